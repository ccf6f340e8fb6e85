import { html } from 'hono/html';
import type { OpenApiDocument, OpenApiOperation } from './openapi.ts';

/** The reference for people: one page without scripts, styles or fonts of others. */
export function referencePage(document: OpenApiDocument) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Holdfast API</title>
        <link rel="stylesheet" href="/reference.css" />
      </head>
      <body>
        <h1>Holdfast API</h1>
        <p>All paths begin with <code>/v1</code>. For programs: <a href="/openapi.json">openapi.json</a>.</p>
        <p>
          An error is <code>application/problem+json</code> with <code>code</code>, <code>detail</code> and
          <code>next</code>.
        </p>
        <h2>Routes</h2>
        ${operations.map(({ path, method, operation }) => route(path, method, operation))}
        <h2>Types</h2>
        ${Object.entries(document.components.schemas).map(
          ([name, schema]) =>
            html`<details id="${name}">
              <summary>${name}</summary>
              <pre>${JSON.stringify(schema, null, 2)}</pre>
            </details>`,
        )}
      </body>
    </html>`;
}

export const REFERENCE_STYLE = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark; }
pre { overflow-x: auto; font-size: 13px; }
summary { cursor: pointer; }
code, pre { font-family: ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
`;

function route(path: string, method: string, operation: OpenApiOperation) {
  const { summary, description, parameters, requestBody: body, responses } = operation;
  const byStatus = Object.entries(responses);
  const answers = Object.fromEntries(byStatus.filter(([status]) => status < '400'));
  return html`<details>
    <summary><code>${method.toUpperCase()} ${path}</code> ${summary}</summary>
    <p>${description}</p>
    <pre>${JSON.stringify({ parameters, body, answers }, null, 2)}</pre>
    <p>
      Errors:
      ${byStatus
        .filter(([status]) => status >= '400')
        .map(([status, { description: codes }]) => html`${status} ${codes.replaceAll('`', '')}; `)}
    </p>
  </details>`;
}
