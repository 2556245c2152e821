# The models and the index are baked in at build: the container starts without a network and writes
# nothing. docs/deploy.md says how it is run, and how these steps are proven without Docker.
FROM python:3.11-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV XDG_CACHE_HOME=/app/.cache
COPY requirements.txt requirements-postgres.txt Makefile ./
RUN make .venv/run.done && .venv/bin/python -m pip install --quiet -r requirements-postgres.txt
COPY . .
RUN make build && rm -rf .cache/footnote/models/.downloads .cache/footnote/pages
# What only builds models, two thirds of the environment.
RUN .venv/bin/python -m pip freeze | cut -d= -f1 \
    | grep -E '^(torch|triton|nvidia-.*|cuda-.*|transformers|sentence-transformers|optimum.*|accelerate|scikit-learn|sympy)$' \
    | xargs .venv/bin/python -m pip uninstall --quiet --yes --root-user-action=ignore \
    && .venv/bin/python -m compileall -q app.py build_index.py rag

FROM python:3.11-slim
RUN useradd --uid 1000 --create-home footnote
WORKDIR /app
COPY --from=build --chown=1000:1000 /app /app
USER 1000
# Gradio wants a folder for temporary files, and /dev/shm can be written even when the root can't.
ENV XDG_CACHE_HOME=/app/.cache HOST=0.0.0.0 PORT=7860 PYTHONDONTWRITEBYTECODE=1 TMPDIR=/dev/shm
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=15s --start-period=60s CMD ["/app/.venv/bin/python", "-c", \
    "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=10)"]
CMD ["/app/.venv/bin/python", "app.py"]
