# An image with live-lisp and SBCL: docker build -t live-lisp . && docker run -i --rm -v "$PWD:/workspace" live-lisp
ARG NODE=node:24-bookworm-slim
FROM ${NODE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY scripts scripts
COPY lisp lisp
COPY src src
RUN node scripts/build.mjs

FROM ${NODE}
RUN apt-get update && apt-get install -y --no-install-recommends sbcl && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/live-lisp
COPY package.json LICENSE ./
COPY lisp lisp
COPY --from=build /build/dist dist
RUN mkdir /workspace && chown node:node /workspace
USER node
WORKDIR /workspace
# The agent is compiled here rather than at each start.
RUN node /opt/live-lisp/dist/live-lisp.js doctor
ENTRYPOINT ["node", "/opt/live-lisp/dist/live-lisp.js", "--root", "/workspace"]
