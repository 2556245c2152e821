"""Models of a few thousand random weights, in the very folders that the real ones come in."""

from __future__ import annotations

import json
from pathlib import Path

TEXT = [
    "A passage says what it says, and an answer quotes it word for word.",
    "Un pasaje dice lo que dice, y una respuesta lo cita palabra por palabra.",
    "The tokenizer cuts words into pieces; the encoder turns pieces into vectors.",
    "¿Qué es un índice? Una lista de vectores en la que se busca el más cercano.",
]
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_llm(folder: Path, *, tied: bool = True, seed: int = 0) -> Path:
    """A Qwen2 with two layers and grouped heads, and a byte-level tokenizer of 400 pieces."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXT * 4, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    fast.chat_template = CHATML
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(fast),
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=tied,
        eos_token_id=fast.eos_token_id,
        bos_token_id=None,
        initializer_range=0.3,
    )
    model = Qwen2ForCausalLM(config).eval()
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def make_embedder(folder: Path) -> Path:
    """A BERT with two layers, 48 positions, mean pooling and prompts."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as models
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors, trainers
    from tokenizers.models import WordPiece
    from transformers import BertConfig, BertModel, BertTokenizerFast

    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(TEXT * 4, trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    fast = BertTokenizerFast(tokenizer_object=tokenizer, model_max_length=48)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=48,
    )
    base = folder.with_name(folder.name + "-base")
    BertModel(config).save_pretrained(base)
    fast.save_pretrained(base)
    transformer = models.Transformer(str(base), max_seq_length=48)
    pooling = models.Pooling(transformer.get_embedding_dimension(), "mean")
    model = SentenceTransformer(
        modules=[transformer, pooling, models.Normalize()],
        device="cpu",
        prompts={"query": "query: ", "passage": "passage: "},
    )
    model.save(str(folder))
    (folder / "README.md").write_text("---\nlicense: mit\n---\n", encoding="utf-8")
    return folder


def read_json(path: Path) -> dict[str, object]:
    """The content of a JSON file."""
    found: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return found
