import { z } from 'zod';

const MODEL_NAME = /^[^/\s]+\/\S+$/;
export const modelName = z.string().regex(MODEL_NAME, 'must be provider/model, like simulator/sim-32k');

const prefix = z.string().max(200).optional();

export const embeddingOptions = z.strictObject({
  model: modelName.meta({
    description:
      "As `provider/model`, of a provider whose protocol is `chat` or `responses`: it is asked at `/embeddings` beside the provider's other addresses.",
  }),
  dimensions: z.number().int().min(1).max(2_000).meta({
    unit: 'numbers',
    description:
      'Numbers of a vector of this model. `holdfast db migrate --embeddings <dimensions>` makes their table; vectors of another model stand beside them.',
  }),
  passagePrefix: prefix.meta({
    description:
      'What the model was trained to have before a text that is found, as `passage: `. A change makes all vectors anew.',
    defaultText: 'nothing',
  }),
  queryPrefix: prefix.meta({
    description: 'What the model was trained to have before a query, as `query: `.',
    defaultText: 'nothing',
  }),
});
