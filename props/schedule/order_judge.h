#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "props/property.h"
#include "props/schedule/call_conflict.h"
#include "props/schedule/order_trial.h"

namespace assay::props {

// What the edges of a LINEAR leave open.
struct OpenOrder {
  std::vector<CallConflict> open;  // conflicts that no path of edges orders
  int64_t ordered = 0;             // that one does
  int64_t apart = 0;               // that meet in no byte, as their bodies say
  int64_t too_many = 0;            // storages with more pairs than are looked at
};
// Whether all calls that touch the same bytes, one to write them, are ordered as they stand.
OpenOrder open_order(const CallAccesses& accesses, const CallOrder& order);

// "kernel 3 (add_64)".
std::string call_name(uop::Ref linear, int32_t call);

// What orders are run by, made where one is to be.
using MakeTrial = std::function<OrderTrial()>;

// A refutation to be shown by running it.
struct OrderWitness {
  std::string what;   // "WAR: kernel 0 (a) must run before kernel 1 (b), …"
  std::string shape;  // "WAR param"
  int32_t before = 0;
  int32_t after = 0;
  ConflictKind kind = ConflictKind::Raw;
};
OrderWitness witness_of(const CallAccesses& accesses, const CallConflict& conflict);

// Counts what is ordered, and runs a wrong order for each witness until one shows: that fails, all
// others are unknown. `linear` is what the orders are of.
void judge_witnesses(Checked& checked, const std::vector<OrderWitness>& witnesses,
                     const CallOrder& order, const MakeTrial& trial, uop::Graph& g, uop::Ref linear,
                     bool confirms);
// All of it: that calls which touch the same bytes are ordered, by reachability, and where the
// context asks for a second method by a solver as well.
void judge_order(Checked& checked, const CallAccesses& accesses, const CallOrder& order,
                 const MakeTrial& trial, Context& context);
// Passes `count` obligations at once.
void add_passed(Checked& checked, int64_t count, std::string_view method);

}  // namespace assay::props
