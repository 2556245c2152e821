"""Spanish words that turning a sentence needs to know, and sentences as words."""

from __future__ import annotations

import re
from dataclasses import dataclass

TOKEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|\d[\d.,–-]*|\S")
QUOTED = re.compile(r"«[^»]*»?|“[^”]*”?|\"[^\"]*\"?")
DETERMINERS = frozenset(
    """el la los las un una unos unas este esta estos estas ese esa esos esas aquel aquella aquellos
    aquellas otro otra otros otras cada ambos ambas todo toda todos todas varios varias algunos algunas
    ningún ninguna cuyo cuya cuyos cuyas""".split()
)
POSSESSIVES = {
    "su": "mi",
    "sus": "mis",
    "suyo": "mío",
    "suya": "mía",
    "suyos": "míos",
    "suyas": "mías",
}
PREPOSITIONS = frozenset(
    """a al ante bajo con contra de del desde durante en entre hacia hasta mediante para por según sin
    sobre tras como junto""".split()
)
CLITICS = frozenset("me te se lo la los las le les nos os".split())
ADVERBS = frozenset(
    """no nunca también ya después antes luego entonces más menos muy siempre allí aquí así aún todavía
    apenas pronto tarde primero finalmente además tampoco casi solo sólo incluso jamás poco mientras
    por fin allá ahí hoy""".split()
)
BOUNDARIES = frozenset(", ; : ( ) — – . ? ¿ ! ¡".split())
STARTERS = frozenset(
    """que quien quienes cual cuales cuyo cuya cuyos cuyas donde cuando mientras porque aunque pues si
    pero sino y e o u ni""".split()
)
JOINERS = frozenset("y e o u ni pero sino".split())
RELATIVES = frozenset("que quien quienes cual cuales".split())
KIN = frozenset(
    """padre madre hermano hermana hermanos hermanas hijo hija hijos hijas mujer marido esposa esposo
    viuda abuelo abuela abuelos tío tía primo prima sobrino sobrina familia padres amigo amiga amigos
    maestro maestra profesor profesora discípulo discípulos alumno alumnos colega colegas""".split()
)
OWNED = KIN | frozenset(
    """vida obra obras muerte nombre carrera trabajo trabajos casa memoria memorias salud infancia
    juventud cumpleaños dibujos archivos escuela tesis discurso estudios investigaciones teoría teorías
    ideas libro libros novela novelas poemas cuadros retrato tumba restos cuerpo nacimiento tiempo
    formación educación honor puesto cargo mano manos ojos voz apellido colección biblioteca""".split()
)
PREDICATES = frozenset(
    "presidente presidenta director directora secretario secretaria miembro fundador fundadora rector "
    "rectora jefe jefa líder".split()
)
ROLES = {
    "m": re.compile(r"\b(?:el|del|al|este|aquel) (?:niño|muchacho|hijo|autor|joven|artista|maestro|"
                    r"pintor|escritor|científico|investigador|sabio)\b"),
    "f": re.compile(r"\b(?:la|esta|aquella) (?:niña|muchacha|hija|autora|joven|artista|maestra|pintora|"
                    r"escritora|científica|investigadora)\b"),
}  # fmt: skip
REFLEXIVE = frozenset(
    """casar doctorar licenciar graduar jubilar trasladar instalar interesar dedicar convertir hacer
    quedar alojar presentar enamorar matricular incorporar unir retirar divorciar mudar sentir negar
    encargar establecer formar ir separar alistar comprometer exiliar refugiar inscribir criar dirigir
    reunir sumar especializar volcar empeñar oponer limitar ocupar reincorporar marchar
    consagrar entregar enfrentar valer servir rebelar suicidar bautizar convertir ganar acercar apartar
    distanciar despedir consolar entrenar afiliar acostumbrar aficionar atrever esforzar enterar
    llamar""".split()
)
PASSIVE = frozenset(
    """crear inaugurar publicar fundar celebrar producir construir abrir estrenar editar imprimir
    aprobar firmar representar rodar emitir convocar organizar traducir declarar conservar
    descubrir""".split()
)
HAPPENING = frozenset(
    """aparecer morir llegar surgir ocurrir existir nacer comenzar empezar venir salir estallar caer
    faltar quedar seguir bastar suceder tocar""".split()
)
BEFALLING = frozenset("tocar venir gustar costar parecer interesar apasionar llegar corresponder "
                       "faltar doler ocurrir".split())  # fmt: skip
TIME = re.compile(
    r"(?:el|la|los|las|un|una|unos|unas|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|ese|esa|aquel|"
    r"aquella|este|esta|en|a|durante|desde|hacia|entre|ya)?\s*(?:mismo |misma |siguiente |poco |finales "
    r"de |principios de |mediados de |comienzos de |el |los |las |la |edad de )*(?:\d[\d.–-]*|años?|día|"
    r"mes(?:es)?|noche|tarde|mañana|semana|verano|otoño|invierno|primavera|enero|febrero|marzo|abril|"
    r"mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|época|década|siglo)\b",
    re.I,
)
LEANS = re.compile(r"Como tal\b|Con ello\b")
CHILDREN = re.compile(r"Tuvieron (?:\w+ )?(?:hij[oa]s|niñ[oa]s)\b")
ENCLITIC = re.compile(r"\w+(?:[aeiáéí]r|[áéí]ndo|ndo)(?:l[oae])\b")


@dataclass
class Word:
    text: str
    start: int
    end: int
    quoted: bool

    @property
    def lower(self) -> str:
        return self.text.lower()


ENCLITIC_SE = re.compile(r"\w+(?:[aeiáéí]r|ndo)se")


def cased(text: str, like: str) -> str:
    return text[:1].upper() + text[1:] if like[:1].isupper() else text


def unquoted(sentence: str) -> str:
    return QUOTED.sub(" ", sentence)


def tokenise(sentence: str) -> list[Word]:
    quoted = [m.span() for m in QUOTED.finditer(sentence)]
    return [
        Word(m.group(), m.start(), m.end(), any(s <= m.start() < e for s, e in quoted))
        for m in TOKEN.finditer(sentence)
    ]
