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
# Alive, not ready: a node that waits for Redis must not be restarted. Reads the options as `serve` does; flags that are added to
# the command below must be added here as well, so give host and port by variables.
HEALTHCHECK --interval=10s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "dist/cli/main.js", "health"]
# Starts the drain: members are moved to other nodes before the process ends.
STOPSIGNAL SIGTERM
CMD ["node", "dist/cli/main.js", "serve"]
