from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upheld.arithmetic.terms import Input, Term, leaf, total

_LEAVES = st.builds(
    leaf,
    st.text(max_size=3),
    st.integers(0, 10**15),
    st.just("stated"),
    st.lists(st.builds(Input, st.just("size"), st.just(1), st.sampled_from("abc"), st.booleans())),
)
_TREES = st.recursive(_LEAVES, lambda parts: st.builds(total, st.just("sum"), st.lists(parts)))


@given(_TREES)
def test_a_tree_is_the_sum_of_its_leaves_and_rests_on_all_of_them(tree: Term) -> None:
    leaves = [term for _, term in tree.walk() if not term.parts]
    assert tree.bytes == sum(term.bytes for term in leaves)
    assert tree.given == tuple(sorted({origin for term in leaves for origin in term.given}))


def test_a_decision_is_an_input_but_nothing_that_is_rested_upon() -> None:
    fact = Input("head_dim", 128, "shape-source", given=True)
    decision = Input("block_size", 16, "one-device")
    assert leaf("kv", 1, "", [fact, decision]).given == ("shape-source",)


def test_walk_gives_each_term_before_its_parts_with_its_depth() -> None:
    tree = total("a", [total("b", [leaf("c", 1, "", [])]), leaf("d", 2, "", [])])
    assert [(depth, term.name) for depth, term in tree.walk()] == [
        (0, "a"),
        (1, "b"),
        (2, "c"),
        (1, "d"),
    ]
