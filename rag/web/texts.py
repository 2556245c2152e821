"""What the server itself says, in both languages: limits, faults, and that it is being stopped."""

from __future__ import annotations

from rag.types import Language

Texts = dict[Language, str]

EMPTY: Texts = {
    "en": "There was no question. Please send one as text.",
    "es": "No había ninguna pregunta. Envía una en forma de texto.",
}
BAD_COLLECTION: Texts = {
    "en": "The collection must be given by its name. These can be asked: {names}.",
    "es": "La colección se indica por su nombre. Se puede preguntar a: {names}.",
}
FAILED: Texts = {
    "en": "The answer broke off because of a fault here. The next question will work.",
    "es": "La respuesta se interrumpió por un fallo nuestro. La próxima pregunta funcionará.",
}
QUESTION_TOO_LONG: Texts = {
    "en": "That question is too long: {limit} characters fit. Could you shorten it?",
    "es": "Esa pregunta es demasiado larga: caben {limit} caracteres. ¿Puedes acortarla?",
}
HISTORY_TOO_LONG: Texts = {
    "en": "The conversation sent along is too long: {limit} characters fit. Send its last turns only.",
    "es": "La conversación adjunta es demasiado larga: caben {limit} caracteres. "
    "Envía solo sus últimos turnos.",
}
TOO_MANY: Texts = {
    "en": "More than {limit} questions in a minute are too many for this server. "
    "The next one can be asked in {seconds} s.",
    "es": "Más de {limit} preguntas por minuto son demasiadas para este servidor. "
    "Podrás hacer la siguiente dentro de {seconds} s.",
}
QUEUE_FULL: Texts = {
    "en": "Too many readers are waiting just now. Ask again in a moment.",
    "es": "Ahora mismo hay demasiados lectores en espera. Vuelve a preguntar en un momento.",
}
STOPPING: Texts = {
    "en": "This server is being restarted. Ask again in a moment.",
    "es": "El servidor se está reiniciando. Vuelve a preguntar en un momento.",
}
REQUEST_TOO_LARGE: Texts = {
    "en": "This request is too large: {limit} bytes fit.",
    "es": "La petición es demasiado grande: caben {limit} bytes.",
}
REQUEST_TOO_SLOW: Texts = {
    "en": "This request didn't arrive whole in time.",
    "es": "La petición no llegó completa a tiempo.",
}
BAD_REQUEST: Texts = {
    "en": 'This request can\'t be read. A call is {{"data": [question, collection, history]}}.',
    "es": 'La petición no se entiende. Una llamada es {{"data": [pregunta, colección, historial]}}.',
}
UNREADABLE: Texts = {
    "en": "This request can't be read.",
    "es": "La petición no se entiende.",
}
NOT_HERE: Texts = {"en": "There is nothing here.", "es": "Aquí no hay nada."}
BROKEN: Texts = {
    "en": "Something broke here. The log knows it as {request}.",
    "es": "Algo ha fallado aquí. El registro lo conoce como {request}.",
}
THUMB_NOT_KEPT: Texts = {
    "en": "The feedback could not be written; the disk may be full.",
    "es": "No se pudo guardar la opinión; quizá el disco esté lleno.",
}


def preferred(accept_language: str) -> Language:
    """The language of an `Accept-Language` header's first entry; English unless it is Spanish."""
    return "es" if accept_language.strip().lower().startswith("es") else "en"
