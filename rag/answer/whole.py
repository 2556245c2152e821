"""Questions about the collection as a whole: "What topics does this blog cover?", "¿De qué va esto?".

They carry no subject of their own, so neither words nor similarity lead anywhere; the overview page,
written at build time, answers them.
"""

from __future__ import annotations

from rag.search import analyse

_TRIGGERS = frozenset(
    """topic topics subject subjects theme themes area areas overview summary cover covers covered
    content contents about blog site website here deal deals tema temas asunto asuntos materia
    materias resumen trata tratan va cubre cubren contenido contenidos sitio web aqui hablan habla
    hablame escribes escribe resume resumeme""".split()
)
_FRAME = frozenset(
    """main principal principales general read reading find learn ask deal deals leer encontrar
    aprender preguntar dame give show briefly brevemente general principal tratados covered""".split()
)
_ASK_SOMETHING_ELSE = frozenset(
    """who whose when where why how many quien quienes cuando donde cuanto cuanta cuantos cuantas
    como last first newest latest oldest ultima ultimo primera primero""".split()
)
_POINTS = frozenset("it that eso esto this".split())
_PLACES = frozenset(
    "blog site website page pages here posts sitio web aqui pagina entradas".split()
)


def asks_about_the_whole(message: str, *, in_conversation: bool) -> bool:
    """Whether every word of a message is about the collection as such.

    In a conversation "What is this about?" means what was talked of.
    """
    said = {word.folded for word in analyse.words(message)}
    if not said & _TRIGGERS or said & _ASK_SOMETHING_ELSE:
        return False
    if in_conversation and said & _POINTS and not said & _PLACES:
        return False
    return all(analyse.is_empty(word) or word in _TRIGGERS | _FRAME for word in said)
