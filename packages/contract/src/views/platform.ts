// The state of the control plane itself, for platform administrators.

import {
  boolean,
  described,
  type Infer,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'

export const STORE_STATES = ['connected', 'disconnected'] as const

/** The response to GET /platform. */
export const platformShape = object({
  at: string({ description: 'When the response was made' }),
  answeredBy: described('Id of the server replica that answered', string()),
  servers: list(
    object({
      id: string(),
      version: described('Absent if the server replica states none', optional(string())),
      startedAt: string(),
      alive: described('Whether its heartbeat has changed recently', boolean()),
      leads: described('Whether it may lead shards', boolean()),
      shards: described('Number of shards that it leads', integer()),
      node: described(
        'Name of the control-plane node on which it runs; null if none is configured',
        nullable(string()),
      ),
    }),
  ),
  shards: object({
    total: integer(),
    unowned: described('Shards that no live server replica leads: their tenants wait', list(integer())),
  }),
  store: object({
    state: oneOf(STORE_STATES),
    usedPercent: described(
      'Size of the largest file of a member, as a share of the quota; null until one has answered',
      nullable(integer()),
    ),
    fileBytes: described('Size of that file; null until a member has answered', nullable(integer())),
    inUseBytes: described(
      'Bytes of that file that hold data; a defragmentation releases the rest. Null until a member has answered',
      nullable(integer()),
    ),
    quotaBytes: described('Size of a file at which the key-value store refuses writes', integer()),
    alarms: list(string({ description: 'Alarm of a member, such as NOSPACE or CORRUPT' })),
  }),
  secretsStore: object({ state: oneOf(STORE_STATES) }),
  massFailureHold: object({
    active: boolean(),
    since: described('Null if it is not active', nullable(string())),
    nodes: described('Number of nodes that would be declared failed without it', integer()),
  }),
})
export type Platform = Infer<typeof platformShape>
