# glibc, not Alpine: Temporal's native module needs it.
FROM node:22.21.1-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=optional
COPY . .
RUN npm run build && npm prune --omit=dev --omit=optional

FROM node:22.21.1-bookworm-slim
# Temporal's client checks certificates against the system's store, which the slim image lacks.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist
COPY --from=build /app/migrations ./migrations
RUN mkdir /workspace && chown node:node /workspace
USER node
VOLUME /workspace
# Written by the worker every second while both of its task queues are polled; see `holdfast worker --help`.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "bin/holdfast.js", "doctor", "--only", "temporal,postgres"]
ENTRYPOINT ["node", "bin/holdfast.js"]
CMD ["worker"]
