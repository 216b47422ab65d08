# assay_rules(NAME source...): the program NAME, which proves the rules of
#
#   const assay::uop::RuleSet& my_rules();
#
# that the sources define. It has the options and exit codes of `assay prove`. In another project:
#
#   include(<build folder of Assay>/assay_rules.cmake)
#   assay_rules(prove_mine my_rules.cpp)
function(assay_rules name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE fuzz_own_rules)
endfunction()

# What fuzz_own_rules is linked to, all the way down, that this project builds.
function(assay_libraries_below target out)
  set(found ${${out}})
  if(NOT ${target} IN_LIST found)
    list(APPEND found ${target})
    get_target_property(below ${target} INTERFACE_LINK_LIBRARIES)
    foreach(item IN LISTS below)
      string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
      if(TARGET ${item})
        get_target_property(is_imported ${item} IMPORTED)
        if(NOT is_imported)
          assay_libraries_below(${item} found)
        endif()
      endif()
    endforeach()
  endif()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Writes what another project includes: the libraries as they lie in the build folder, and the
# packages that they need.
function(assay_export_rules)
  assay_libraries_below(fuzz_own_rules libraries)
  export(TARGETS ${libraries} FILE ${CMAKE_BINARY_DIR}/assay_targets.cmake)
  file(WRITE ${CMAKE_BINARY_DIR}/assay_rules.cmake.new
"find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(mimalloc)
find_package(PkgConfig REQUIRED)
pkg_check_modules(MPFR REQUIRED IMPORTED_TARGET mpfr)
pkg_check_modules(Z3 REQUIRED IMPORTED_TARGET z3)
include(\"\${CMAKE_CURRENT_LIST_DIR}/assay_targets.cmake\")
function(assay_rules name)
  add_executable(\${name} \${ARGN})
  target_link_libraries(\${name} PRIVATE fuzz_own_rules)
endfunction()
")
  configure_file(${CMAKE_BINARY_DIR}/assay_rules.cmake.new ${CMAKE_BINARY_DIR}/assay_rules.cmake COPYONLY)
endfunction()
