import { z } from 'zod';

const ADDRESS = /^[^\s:/]+:\d{1,5}$/;

/** Servers. Apart from the other options, which take longer to load than most commands take. */
export const connectionOptions = {
  database: z
    .strictObject({
      url: z
        .string()
        .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
        .optional()
        .meta({
          description: 'Address of Postgres, without a password. `DATABASE_URL` wins over it and may hold one.',
          defaultText: "the local stack's",
        }),
      listenUrl: z
        .string()
        .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
        .optional()
        .meta({
          description:
            'Direct address of the same database, for notifications, if `url` names a pooler. `DATABASE_LISTEN_URL` wins over it.',
          defaultText: '`url`',
        }),
    })
    .optional()
    .meta({ description: 'Where everything is stored.' }),
  temporal: z
    .strictObject({
      address: z.string().regex(ADDRESS, 'must be host:port').optional().meta({
        description: 'Address of Temporal, `host:port`. `TEMPORAL_ADDRESS` wins over it.',
        defaultText: "the local stack's",
      }),
      namespace: z
        .string()
        .min(1)
        .optional()
        .meta({ description: 'Namespace. `TEMPORAL_NAMESPACE` wins over it.', defaultText: '`default`' }),
    })
    .optional()
    .meta({ description: 'Where turns run.' }),
};
