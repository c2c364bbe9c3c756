#pragma once

#include <concepts>
#include <type_traits>
#include <vector>

#include "ir/value.h"
#include "ir/var.h"

namespace monojit::ir {

namespace detail {
/// Opens the blocks of one `if`; what `body` emits goes under it.
struct Branch {
  llvm::BasicBlock* next = nullptr;     ///< where the builder stands after it: reached when the condition is false
  std::vector<llvm::BasicBlock*> ends;  ///< ends of the bodies so far, which all go on behind the chain
};
void begin_branch(Branch& branch, llvm::Value* condition, bool rarely, Loc loc);
void end_branch(Branch& branch, Loc loc);
void begin_otherwise(Branch& branch, Loc loc);
void end_otherwise(Branch& branch, Loc loc);

struct Loop {
  llvm::BasicBlock* header = nullptr;
  llvm::BasicBlock* exit = nullptr;
  llvm::Value* counter = nullptr;
  llvm::Value* step = nullptr;
};
llvm::Value* begin_count(Loop& loop, llvm::Value* begin, llvm::Value* end, llvm::Value* step, Loc loc);
void end_count(Loop& loop, Loc loc);
void begin_loop(Loop& loop, Loc loc);
void loop_while(Loop& loop, llvm::Value* condition, Loc loc);
void end_loop(Loop& loop, llvm::Value* again, Loc loc);  ///< `again` null: always
}  // namespace detail

/// If(condition, body).ElseIf(condition, body).Else(body): emitted branches. A condition that is Uniform becomes a
/// scalar branch, another one masks lanes. ElseIf and Else have to follow at once.
class IfChain {
 public:
  template <std::invocable Body>
  IfChain(const Bool& condition, Body&& body, bool rarely, Loc loc) {
    then(condition, body, rarely, loc);
  }
  template <std::invocable Body>
  IfChain& ElseIf(const Bool& condition, Body&& body, Loc loc = Loc::current()) {
    then(condition, body, false, loc);
    return *this;
  }
  template <std::invocable Body>
  void Else(Body&& body, Loc loc = Loc::current()) {
    detail::begin_otherwise(branch_, loc);
    body();
    detail::end_otherwise(branch_, loc);
  }

 private:
  template <class Body>
  void then(const Bool& condition, Body& body, bool rarely, Loc loc) {
    detail::begin_branch(branch_, condition.get(), rarely, loc);
    body();
    detail::end_branch(branch_, loc);
  }
  detail::Branch branch_;
};

template <std::invocable Body>
IfChain If(const Bool& condition, Body&& body, Loc loc = Loc::current()) {
  return IfChain(condition, body, false, loc);
}

/// An If whose body seldom runs: it is laid out behind the other code.
template <std::invocable Body>
IfChain IfRarely(const Bool& condition, Body&& body, Loc loc = Loc::current()) {
  return IfChain(condition, body, true, loc);
}

namespace detail {
/// The type of a loop's counter: Int64 if a bound is, and Uniform if all bounds are.
template <class A>
inline constexpr bool kUniformBound =
    Literal<A> || std::convertible_to<A, Uniform<Int32>> || std::convertible_to<A, Uniform<Int64>>;
template <class A>
inline constexpr bool kWideBound = !std::convertible_to<A, Int32>;
template <class... Bounds>
using Counter = std::conditional_t<(kUniformBound<Bounds> && ...),
                                   Uniform<std::conditional_t<(kWideBound<Bounds> || ...), Int64, Int32>>,
                                   std::conditional_t<(kWideBound<Bounds> || ...), Int64, Int32>>;
}  // namespace detail

/// Runs body(i) for i = begin, begin + step, ... while i < end (signed), in a loop of the kernel. `step` is positive.
/// The counter is Uniform if all bounds are.
template <class Begin, class End, class Step, class Body>
  requires std::invocable<Body, detail::Counter<Begin, End, Step>>
void For(const Begin& begin, const End& end, const Step& step, Body&& body, Loc loc = Loc::current()) {
  using I = detail::Counter<Begin, End, Step>;
  detail::Loop loop;
  llvm::Value* i = detail::begin_count(loop, I(begin).get(), I(end).get(), I(step).get(), loc);
  body(I(Raw{i}));
  detail::end_count(loop, loc);
}
template <class Begin, class End, class Body>
  requires std::invocable<Body, detail::Counter<Begin, End>>
void For(const Begin& begin, const End& end, Body&& body, Loc loc = Loc::current()) {
  For(begin, end, 1, body, loc);
}

/// Runs the body as long as condition(), which may emit code, holds before it.
template <class Condition, std::invocable Body>
  requires std::convertible_to<std::invoke_result_t<Condition>, Bool>
void While(Condition&& condition, Body&& body, Loc loc = Loc::current()) {
  detail::Loop loop;
  detail::begin_loop(loop, loc);
  const Bool again = condition();
  detail::loop_while(loop, again.get(), loc);
  body();
  detail::end_loop(loop, nullptr, loc);
}

/// Runs the body, then again as long as the Bool that it returns holds. Lanes leave one by one, a wave when none is
/// left.
template <class Body>
  requires std::convertible_to<std::invoke_result_t<Body>, Bool>
void DoWhile(Body&& body, Loc loc = Loc::current()) {
  detail::Loop loop;
  detail::begin_loop(loop, loc);
  const Bool again = body();
  detail::end_loop(loop, again.get(), loc);
}

/// Leaves the innermost loop if `condition` holds.
void BreakIf(const Bool& condition, Loc loc = Loc::current());
/// Ends the kernel for lanes in which `condition` holds.
void ReturnIf(const Bool& condition, Loc loc = Loc::current());

namespace detail {
template <class A>
struct Chosen {
  using Type = A;
};
template <class T>
struct Chosen<Var<T>> {
  using Type = T;
};
template <class A>
struct PerLane {
  using Type = A;
};
template <class T>
struct PerLane<Uniform<T>> {
  using Type = T;
};
/// The common type of two operands of which one may be a literal: the per-lane one unless both are uniform.
template <class A, class B>
struct Common {
  using Type = std::conditional_t<std::convertible_to<A, B>, B, A>;
};
template <class A, Literal B>
struct Common<A, B> {
  using Type = A;
};
template <Literal A, class B>
struct Common<A, B> {
  using Type = B;
};
template <class A, class B>
using Selected = Common<typename Chosen<A>::Type, typename Chosen<B>::Type>::Type;
}  // namespace detail

/// a where `condition` holds, else b: both are evaluated. One of the two may be a literal.
template <class C, class A, class B>
  requires(std::derived_from<detail::Selected<A, B>, Value> && std::convertible_to<A, detail::Selected<A, B>> &&
           std::convertible_to<B, detail::Selected<A, B>>)
auto select(const C& condition, const A& a, const B& b, Loc loc = Loc::current()) {
  using T = detail::Selected<A, B>;
  using Result = std::conditional_t<std::convertible_to<C, Uniform<Bool>>, T, typename detail::PerLane<T>::Type>;
  // A vector of conditions chooses element by element.
  using Condition = std::conditional_t<std::convertible_to<C, Bool>, Bool, C>;
  return Result(Raw{emit::select(Condition(condition).get(), T(a).get(), T(b).get(), loc)});
}

}  // namespace monojit::ir
