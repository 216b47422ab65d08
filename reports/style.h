#pragma once

#include <string_view>

namespace assay::reports {

// How a page looks: on wide and narrow screens, in the dark, on paper.
inline constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark;
  --ink: #1c2430; --soft: #5f6b7a; --line: #dde3ea; --back: #f5f7fa; --card: #fff; --code: #f0f3f7;
  --good: #17754a; --bad: #b83227; --doubt: #96600d; --bar: #3b6ea8; --heat: 59,110,168; }
@media (prefers-color-scheme: dark) { :root {
  --ink: #dfe5ec; --soft: #94a1b2; --line: #2d3744; --back: #12171d; --card: #1a212a; --code: #10151b;
  --good: #4cc38a; --bad: #ff7b6b; --doubt: #e2a93f; --bar: #6fa3dc; --heat: 111,163,220; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 60px; }
body { margin: 0; color: var(--ink); background: var(--back);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main { max-width: 1180px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 24px; }
header h1 { margin: 0 0 10px; font-size: 24px; display: flex; align-items: center; gap: 12px; }
.badge { font-size: 14px; font-weight: 600; padding: 2px 12px; border-radius: 20px; }
.badge.good { color: #fff; background: #17754a; } .badge.doubt { color: #fff; background: #96600d; }
 .badge.bad { color: #fff; background: #b83227; }
a { color: var(--bar); }
.facts { margin: 0; color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
.facts b { color: var(--ink); font-weight: 500; margin-right: 14px; }
nav { position: sticky; top: 0; z-index: 1; background: var(--back); margin-top: 14px;
  border-bottom: 1px solid var(--line); overflow-x: auto; white-space: nowrap; }
nav div { max-width: 1180px; margin: 0 auto; padding: 10px 28px; }
nav a { margin-right: 18px; text-decoration: none; }
nav a:hover { text-decoration: underline; }
main { padding-bottom: 72px; }
h2 { margin: 34px 0 12px; font-size: 19px; } h3 { margin: 22px 0 8px; font-size: 15px; }
p { margin: 0 0 10px; }
ul.why { margin: 0 0 14px; padding-left: 20px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(165px, 1fr)); gap: 12px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; }
.tile b { display: block; font-size: 23px; font-weight: 600; white-space: nowrap; }
.tile span { color: var(--soft); font-size: 13px; }
.good { color: var(--good); } .bad { color: var(--bad); } .doubt { color: var(--doubt); }
.none, .note { color: var(--soft); }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; margin-bottom: 14px;
  background: var(--card); }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; padding: 6px 12px; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
th { font-size: 13px; color: var(--soft); font-weight: 600; white-space: nowrap; }
td.long { overflow-wrap: anywhere; min-width: 190px; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.names { font: 13px/1.7 ui-monospace, Menlo, Consolas, monospace; columns: 260px; column-gap: 24px;
  margin: 6px 0 10px; padding: 0; list-style: none; }
.names li { overflow-wrap: anywhere; break-inside: avoid; }
.finding { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--bad);
  border-radius: 8px; padding: 12px 16px; margin-bottom: 14px; overflow-wrap: anywhere; }
.finding.flaky { border-left-color: var(--doubt); }
.finding h3 { margin: 0 0 6px; } .finding p { margin: 0 0 6px; }
pre { margin: 8px 0 0; padding: 10px 12px; background: var(--code); border-radius: 6px; overflow: auto;
  max-height: 460px; font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }
code, .code { font: 13px ui-monospace, Menlo, Consolas, monospace; }
.code { color: var(--doubt); }
.share { white-space: nowrap; }
.bar { display: inline-block; width: 150px; max-width: 30vw; height: 8px; background: var(--line);
  border-radius: 4px; overflow: hidden; vertical-align: middle; margin-right: 8px; }
.bar i { display: block; height: 100%; background: var(--bar); }
.heat { display: inline-block; min-width: 34px; padding: 0 8px; border-radius: 4px;
  background: rgba(var(--heat), calc(0.1 + 0.5 * var(--h))); }
details summary { cursor: pointer; color: var(--bar); }
details.rest { display: inline; } details.rest summary { display: inline; }
@media (max-width: 640px) {
  header, main { padding-left: 14px; padding-right: 14px; } nav div { padding: 10px 14px; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 8px; } .tile { padding: 8px 10px; } .tile b { font-size: 19px; }
  th, td { padding: 5px 8px; } .finding { padding: 10px 12px; } .bar { width: 70px; }
}
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --back: #fff; --card: #fff; --code: #f4f4f4;
    --good: #17754a; --bad: #b83227; --doubt: #96600d; --bar: #3b6ea8; }
  body, pre, th, .tile span, .facts, .names { font-size: 10px; } .tile b { font-size: 15px; }
  h1 { font-size: 18px; } h2 { font-size: 14px; } h3 { font-size: 12px; }
  nav { display: none; } header, main { max-width: none; padding: 0; }
  .wide { overflow: visible; } pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; }
  .tile, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .bar, .badge, td { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
)";

}  // namespace assay::reports
