ARG NODE_VERSION=20

FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build-server.mjs scripts/build-client.mjs scripts/
COPY src src
COPY client-demo client-demo
RUN npm run build

FROM node:${NODE_VERSION}-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:${NODE_VERSION}-bookworm-slim
ENV NODE_ENV=production PORT=3000
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# Where a ledger may be kept, on a volume that outlives the container: SIGNALBOX_DATA_DIR=/var/lib/signalbox. Not by
# default: a ledger that is lost with its container would begin anew.
RUN install -d -o node -g node /var/lib/signalbox
# Everything else above belongs to root: a process that is taken over cannot rewrite its own program.
USER node
EXPOSE 3000
# Node and not curl: the slim image has no curl. Alive, not ready: a node that waits for Redis must not be restarted.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Starts the drain: members are moved to other nodes before the process ends.
STOPSIGNAL SIGTERM
CMD ["node", "dist/cli/main.js", "serve"]
