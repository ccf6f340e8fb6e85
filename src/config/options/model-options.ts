import { z } from 'zod';

const MODEL_NAME = /^[^/\s]+\/\S+$/;
export const modelName = z.string().regex(MODEL_NAME, 'must be provider/model, like simulator/sim-32k');

const prefix = z.string().max(200).optional();

export const embeddingOptions = z.strictObject({
  model: modelName.meta({
    description:
      'The model, as `provider/model`. Its provider must speak `chat` or `responses` and serve `/embeddings`.',
  }),
  dimensions: z.number().int().min(1).max(2_000).meta({
    unit: 'numbers',
    description: 'Length of a vector of this model. `holdfast db migrate --embeddings <dimensions>` makes the table.',
  }),
  passagePrefix: prefix.meta({
    description:
      'Text that the model expects before a passage, like `passage: `. After a change all vectors are made anew.',
    defaultText: 'nothing',
  }),
  queryPrefix: prefix.meta({
    description: 'Text that the model expects before a query, like `query: `.',
    defaultText: 'nothing',
  }),
});
