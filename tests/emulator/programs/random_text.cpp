// Random programs as OpenCL C.
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/emulator/programs/random_program.h"

namespace monojit::emulator::test {
namespace {

using Type = ValueType;
using Op = Operation;

const char* name_of(Type type) {
  constexpr const char* kNames[] = {"char", "uchar", "short", "ushort", "int",   "uint",
                                    "long", "ulong", "half",  "float",  "double"};
  return kNames[static_cast<u32>(type)];
}
const char* bits_name(Type type) { return type == Type::kF16 ? "ushort" : type == Type::kF32 ? "uint" : "ulong"; }

/// A value's bits in `word`, a text of type ulong.
std::string from_bits(Type type, const std::string& word) {
  if (is_float(type)) return fmt::format("as_{}(({})({}))", name_of(type), bits_name(type), word);
  return fmt::format("({})({})", name_of(type), word);
}

class Printer {
 public:
  explicit Printer(const RandomProgram& program, std::string name) : program_(program), name_(std::move(name)) {}

  std::string expression(const Expression& e) const {
    std::vector<std::string> a;
    for (const Expression& argument : e.arguments) a.push_back(expression(argument));
    const char* const type = name_of(e.type);
    const char* const wide = bits_of(e.type) == 64 ? "ulong" : "uint";
    const auto infix = [&](const char* sign) {
      if (is_float(e.type)) return fmt::format("({} {} {})", a[0], sign, a[1]);
      return fmt::format("({0})(({1}){2} {3} ({1}){4})", type, wide, a[0], sign, a[1]);
    };
    const auto call = [&](const std::string& function) { return fmt::format("{}({})", function, fmt::join(a, ", ")); };
    const auto shift = [&](const char* operand_type, const char* sign) {
      return fmt::format("({})(({}){} {} ((uint){} & {}))", type, operand_type, a[0], sign, a[1], bits_of(e.type) - 1);
    };
    switch (e.operation) {
      case Op::kConstant:
        return from_bits(e.type, fmt::format("{:#x}ul", e.constant));
      case Op::kVariable:
        return fmt::format("v{}", e.index);
      case Op::kElement:
        return fmt::format("a[{} & 7]", a[0]);
      case Op::kCall:
        return call(fmt::format("{}_f{}", name_, e.index));
      case Op::kAdd:
        return infix("+");
      case Op::kSubtract:
        return infix("-");
      case Op::kMultiply:
        return infix("*");
      case Op::kDivide:
        return is_float(e.type) ? infix("/") : call(fmt::format("quotient_{}", type));
      case Op::kRemainder:
        return call(fmt::format("rest_{}", type));
      case Op::kMinimum:
        return call(fmt::format("smaller_{}", type));
      case Op::kMaximum:
        return call(fmt::format("larger_{}", type));
      case Op::kNegate:
        return is_float(e.type) ? fmt::format("(-{})", a[0]) : fmt::format("({0})(-({1}){2})", type, wide, a[0]);
      case Op::kSelect:
        return fmt::format("({})({} != 0 ? {} : {})", type, a[0], a[1], a[2]);
      case Op::kConvert:
        if (is_float(e.arguments[0].type) && !is_float(e.type))
          return call(fmt::format("to_{}_{}", type, name_of(e.arguments[0].type)));
        return fmt::format("({}){}", type, a[0]);
      case Op::kBits:
        return call(fmt::format("bits_{}", name_of(e.arguments[0].type)));
      case Op::kFromBits:
        return call(fmt::format("as_{}", type));
      case Op::kLess:
        return fmt::format("(int)({} < {})", a[0], a[1]);
      case Op::kEqual:
        return fmt::format("(int)({} == {})", a[0], a[1]);
      case Op::kAnd:
        return infix("&");
      case Op::kOr:
        return infix("|");
      case Op::kXor:
        return infix("^");
      case Op::kNot:
        return fmt::format("({})(~{})", type, a[0]);
      case Op::kShiftLeft:
        return shift(wide, "<<");
      case Op::kShiftRight:
        return shift(type, ">>");
      case Op::kRotate:
        return call("rotate");
      case Op::kAddSaturated:
        return call("add_sat");
      case Op::kSubtractSaturated:
        return call("sub_sat");
      case Op::kMultiplyHigh:
        return call("mul_hi");
      case Op::kHalfSum:
        return call("hadd");
      case Op::kPopulation:
        return call("popcount");
      case Op::kLeadingZeros:
        return call("clz");
      case Op::kFused:
        return call("fma");
      case Op::kRoot:
        return call("sqrt");
      case Op::kAbsolute:
        return call("fabs");
      case Op::kFloor:
        return call("floor");
      case Op::kTruncate:
        return call("trunc");
      case Op::kNearest:
        return call("rint");
    }
    return {};
  }

  void block(const std::vector<Statement>& statements) {
    out_ += "{\n";
    for (const Statement& statement : statements) print(statement);
    out_ += "}\n";
  }

  void print(const Statement& s) {
    const auto e = [&](u32 i) { return expression(s.expressions[i]); };
    switch (s.kind) {
      case StatementKind::kAssign:
        out_ += fmt::format("v{} = {};\n", s.variable, e(0));
        return;
      case StatementKind::kStoreElement:
        out_ += fmt::format("a[{} & 7] = {};\n", e(0), e(1));
        return;
      case StatementKind::kIf:
        out_ += fmt::format("if ({} != 0)\n", e(0));
        block(s.bodies[0]);
        out_ += "else\n";
        block(s.bodies[1]);
        return;
      case StatementKind::kSwitch:
        out_ += fmt::format("switch ({} % 4) {{\n", e(0));
        for (u32 i = 0; i < 4; ++i) {
          out_ += fmt::format("case {}:\n", i);
          block(s.bodies[i]);
          out_ += "break;\n";
        }
        out_ += "}\n";
        return;
      case StatementKind::kLoop: {
        const u32 n = loops_++;
        out_ += fmt::format("for (uint k{0} = 0, n{0} = {1} % 6; k{0} < n{0}; ++k{0})\n", n, e(0));
        block(s.bodies[0]);
        return;
      }
      case StatementKind::kBreakIf:
        out_ += fmt::format("if ({} != 0) break;\n", e(0));
        return;
      case StatementKind::kContinueIf:
        out_ += fmt::format("if ({} != 0) continue;\n", e(0));
        return;
      case StatementKind::kExchangeLds:
        out_ += fmt::format(
            "barrier(CLK_LOCAL_MEM_FENCE);\ntile[lane] = v{0};\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
            "v{0} = tile[(3 * lane + {1}) % 64];\n",
            s.variable, s.shift);
        return;
      case StatementKind::kExchangeLanes:
        out_ += fmt::format("v{0} = (uint)__builtin_amdgcn_ds_bpermute((int)((lane + {1}) % 64 * 4), (int)v{0});\n",
                            s.variable, s.shift);
        return;
      case StatementKind::kSumInLds:
        out_ += fmt::format(
            "barrier(CLK_LOCAL_MEM_FENCE);\nif (lane == 0) sum[0] = 0;\nbarrier(CLK_LOCAL_MEM_FENCE);\n"
            "atomic_add(&sum[0], v{0});\nbarrier(CLK_LOCAL_MEM_FENCE);\nv{0} = sum[0];\n",
            s.variable);
        return;
    }
  }

  std::string kernel() {
    for (u32 f = 0; f < program_.functions.size(); ++f) {
      const RandomFunction& function = program_.functions[f];
      std::vector<std::string> parameters;
      for (u32 i = 0; i < function.parameters.size(); ++i)
        parameters.push_back(fmt::format("{} v{}", name_of(function.parameters[i]), i));
      out_ += fmt::format("__attribute__((noinline)) {} {}_f{}({}) {{ return {}; }}\n", name_of(function.body.type),
                          name_, f, fmt::join(parameters, ", "), expression(function.body));
    }
    out_ += fmt::format(
        "__attribute__((reqd_work_group_size(64, 1, 1))) kernel void {}(global const ulong* in, global ulong* out) {{\n"
        "local ulong tile[64];\nlocal uint sum[1];\nconst uint lane = get_local_id(0);\n"
        "in += get_global_id(0) * {};\nout += get_global_id(0) * {};\nulong a[8];\n"
        "for (uint i = 0; i < 8; ++i) a[i] = in[7] * (2 * i + 1);\n",
        name_, program_.inputs(), program_.outputs());
    for (u32 i = 0; i < program_.variables.size(); ++i) {
      const Type type = program_.variables[i];
      out_ += fmt::format("{} v{} = {};\n", name_of(type), i, from_bits(type, fmt::format("in[{}]", i)));
    }
    for (const Statement& statement : program_.statements) print(statement);
    for (u32 i = 0; i < program_.variables.size(); ++i) {
      const Type type = program_.variables[i];
      const Type same = bits_of(type) == 8    ? Type::kU8
                        : bits_of(type) == 16 ? Type::kU16
                        : bits_of(type) == 32 ? Type::kU32
                                              : Type::kU64;
      out_ += is_float(type) ? fmt::format("out[{0}] = bits_{1}(v{0});\n", i, name_of(type))
                             : fmt::format("out[{0}] = ({1})v{0};\n", i, name_of(same));
    }
    out_ += fmt::format("for (uint i = 0; i < 8; ++i) out[{} + i] = a[i];\n}}\n", program_.inputs());
    return std::move(out_);
  }

 private:
  const RandomProgram& program_;
  std::string name_;
  std::string out_;
  u32 loops_ = 0;
};

}  // namespace

std::string RandomProgram::text(const std::string& name) const { return Printer(*this, name).kernel(); }

std::string random_program_prelude() {
  std::string out = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  for (u32 i = 0; i < kValueTypes; ++i) {
    const auto type = static_cast<Type>(i);
    const char* const name = name_of(type);
    if (is_float(type)) {
      out += fmt::format("{1} bits_{0}({0} x) {{ return isnan(x) ? ({1})0 : as_{1}(x); }}\n", name, bits_name(type));
      for (u32 k = 0; k < static_cast<u32>(Type::kF16); ++k) {
        const char* const to = name_of(static_cast<Type>(k));
        out += fmt::format("{0} to_{0}_{1}({1} x) {{ return isnan(x) ? ({0})0 : convert_{0}_sat(x); }}\n", to, name);
      }
    } else {
      for (const auto& [function, sign] : {std::pair{"smaller", "<"}, {"larger", ">"}})
        out += fmt::format("{0} {1}_{0}({0} x, {0} y) {{ return x {2} y ? x : y; }}\n", name, function, sign);
      out +=
          fmt::format("{0} quotient_{0}({0} x, {0} y) {{ return y == 0 || y == ({0})-1 ? x : ({0})(x / y); }}\n", name);
      out += fmt::format("{0} rest_{0}({0} x, {0} y) {{ return y == 0 || y == ({0})-1 ? y : ({0})(x % y); }}\n", name);
    }
  }
  return out;
}

}  // namespace monojit::emulator::test
