# The models and the demo index are baked in at build: the container starts without a network.
FROM python:3.11-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make git && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV XDG_CACHE_HOME=/app/.cache
COPY requirements.txt Makefile ./
RUN make .venv/run.done
COPY . .
RUN make build && rm -rf .cache/footnote/models/.downloads .cache/footnote/pages

FROM python:3.11-slim
RUN useradd --uid 1000 --create-home footnote
WORKDIR /app
COPY --from=build --chown=1000:1000 /app /app
USER 1000
ENV XDG_CACHE_HOME=/app/.cache HOST=0.0.0.0 PORT=7860 PYTHONDONTWRITEBYTECODE=1
EXPOSE 7860
HEALTHCHECK --start-period=60s CMD ["/app/.venv/bin/python", "-c", \
    "import urllib.request as u; u.urlopen('http://127.0.0.1:7860/healthz', timeout=5)"]
CMD ["/app/.venv/bin/python", "app.py"]
