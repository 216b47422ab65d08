# Writes the commit that is built into OUT, where it is another than the one that stands there.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
endif()
set(text "#include \"fuzz/campaign/commit.h\"\n\nnamespace assay::fuzz {\nstd::string_view engine_commit() { return \"${commit}\"; }\n}  // namespace assay::fuzz\n")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
