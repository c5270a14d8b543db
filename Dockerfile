# An image with live-lisp and SBCL: docker build -t live-lisp . && docker run -i --rm -v "$PWD:/workspace" live-lisp
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY scripts scripts
COPY src src
RUN node scripts/build.mjs

FROM node:24-bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends sbcl && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/live-lisp
COPY package.json LICENSE ./
COPY lisp lisp
COPY --from=build /build/dist dist
RUN mkdir /workspace && chown node:node /workspace
USER node
WORKDIR /workspace
ENTRYPOINT ["node", "/opt/live-lisp/dist/live-lisp.js", "--root", "/workspace"]
