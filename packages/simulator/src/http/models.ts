import { Hono, type Context } from 'hono';
import { findModel, listModels, type SimulatedModel } from '../core/simulated-model.ts';
import { vendorErrorBody } from '../core/vendor-error.ts';

/** Released when the project began; the models never change. */
const CREATED_AT = '2026-11-01T00:00:00Z';

/** `GET /v1/models` and `/v1/models/<id>`, in Anthropic's form for callers that send `anthropic-version`, else in OpenAI's. */
export function modelRoutes(): Hono {
  const app = new Hono();
  app.get('/', (context) => {
    const models = listModels();
    if (!isAnthropic(context)) return context.json({ object: 'list', data: models.map((model) => openaiModel(model)) });
    return context.json({
      data: models.map((model) => anthropicModel(model)),
      has_more: false,
      first_id: models[0]?.id ?? null,
      last_id: models.at(-1)?.id ?? null,
    });
  });
  app.get('/:id', (context) => {
    const id = context.req.param('id');
    const model = findModel(id);
    if (model !== undefined) return context.json(isAnthropic(context) ? anthropicModel(model) : openaiModel(model));
    const details = isAnthropic(context)
      ? { status: 404, message: `model: ${id}` }
      : { status: 404, message: `The model '${id}' does not exist`, code: 'model_not_found', parameter: 'model' };
    return context.json(vendorErrorBody(isAnthropic(context) ? 'anthropic' : 'chat', details), 404);
  });
  return app;
}

function isAnthropic(context: Context): boolean {
  return context.req.header('anthropic-version') !== undefined;
}

function openaiModel(model: SimulatedModel): object {
  // `context_window` and `max_output_tokens` are extras that several compatible servers send.
  return {
    id: model.id,
    object: 'model',
    created: Date.parse(CREATED_AT) / 1000,
    owned_by: 'holdfast-simulator',
    context_window: model.window,
    max_output_tokens: model.maximumOutput,
  };
}

function anthropicModel(model: SimulatedModel): object {
  return {
    type: 'model',
    id: model.id,
    display_name: `Simulated model, ${model.window} tokens`,
    created_at: CREATED_AT,
    max_input_tokens: model.window,
    max_tokens: model.maximumOutput,
    capabilities: null,
    deprecated_at: null,
    lifecycle: 'active',
    line: null,
    retires_at: null,
  };
}
