// The schema of a simulation script: one shape for the cluster, and one for each kind of step.

import {
  boolean,
  integer,
  json,
  list,
  map,
  type ObjectNode,
  object,
  oneOf,
  optional,
  QUOTA_KINDS,
  residencyShape,
  string,
} from '@holdfast/contract'
import { CREATION_FAULTS, type Step } from './script.ts'

const ms = integer({ minimum: 0 })

export const clusterShape = object({
  regions: optional(map(list(string()))),
  residencyEnforced: optional(boolean()),
  servers: optional(list(string())),
  tenants: list(
    object({
      name: string(),
      platform: optional(boolean()),
      quotas: optional(map(integer({ minimum: 0 }))),
    }),
  ),
  nodes: list(
    object({
      name: string(),
      tenant: string(),
      labels: optional(map(string())),
      attested: optional(residencyShape),
      capacity: optional(object({ cpuMillis: integer(), memoryBytes: integer() })),
      poolBytes: optional(integer({ minimum: 1 })),
    }),
  ),
})

/** Shape of the script without its steps, because the fields of a step depend on its kind. */
export const scriptShape = object({
  seed: optional(integer()),
  cluster: clusterShape,
  steps: list(json<unknown>()),
  settleMs: optional(ms),
  restMs: optional(ms),
  pace: optional(oneOf(['true', 'coarse'])),
})

const ofDeployment = { at: ms, do: string(), tenant: string(), deployment: string() }
const ofVolume = { at: ms, do: string(), tenant: string(), volume: string() }
const ofNetwork = { at: ms, do: string(), tenant: string(), network: string() }
const ofJob = { at: ms, do: string(), tenant: string(), job: string() }
const ofCopy = object({ ...ofVolume, node: string() })
const ofNode = { at: ms, do: string(), node: string() }
const nodeForAWhile = object({ ...ofNode, forMs: ms })
const behaviour = {
  startMs: optional(ms),
  unhealthy: optional(boolean()),
  crashAfterMs: optional(ms),
  exitCode: optional(integer({ minimum: 0 })),
}
const ofServer = { at: ms, do: string(), server: string() }
const forAWhile = object({ ...ofServer, forMs: ms })

export const stepShapes: { readonly [D in Step['do']]: ObjectNode } = {
  apply: object({ ...ofDeployment, spec: optional(map(json<unknown>())) }),
  delete: object(ofDeployment),
  behave: object({ ...ofDeployment, ...behaviour }),
  'node-lost': object(ofNode),
  'node-back': object(ofNode),
  'node-cut': object(ofNode),
  'node-healed': object(ofNode),
  'agent-restart': object(ofNode),
  'agent-killed': nodeForAWhile,
  'fencer-killed': nodeForAWhile,
  'power-cut': nodeForAWhile,
  'network-cut': nodeForAWhile,
  'node-frozen': nodeForAWhile,
  'engine-stopped': nodeForAWhile,
  'cannot-create': object({ ...nodeForAWhile.fields, cause: oneOf(CREATION_FAULTS) }),
  'servers-cut': nodeForAWhile,
  'peer-cut': object({ ...nodeForAWhile.fields, to: string(), oneWay: boolean() }),
  'clock-rate': object({ ...ofNode, percent: integer({ minimum: 1 }) }),
  'wall-step': object({ ...nodeForAWhile.fields, byMs: integer() }),
  'server-wall-step': object({ ...forAWhile.fields, byMs: integer() }),
  labels: object({ ...ofNode, labels: map(string()) }),
  'agent-version': object({ ...ofNode, capabilities: optional(list(string())) }),
  cordon: object(ofNode),
  uncordon: object(ofNode),
  drain: object(ofNode),
  'node-role': object({ ...ofNode, controlPlane: boolean() }),
  'node-removed': object({ ...ofNode, force: optional(boolean()) }),
  're-enroll': object({ ...ofNode, attested: optional(residencyShape) }),
  volume: object({ ...ofVolume, on: optional(string()), spec: map(json<unknown>()) }),
  'volume-resized': object({ ...ofVolume, sizeBytes: integer() }),
  'volume-replicas': object({ ...ofVolume, replicas: integer() }),
  'replica-added': ofCopy,
  'replica-removed': ofCopy,
  'volume-deleted': object(ofVolume),
  network: object({ ...ofNetwork, on: optional(string()), spec: optional(map(json<unknown>())) }),
  'network-delete': object(ofNetwork),
  'network-lost': object({ ...ofNode, network: string() }),
  'network-taken': object({ ...nodeForAWhile.fields, network: string() }),
  job: object({
    ...ofJob,
    runMs: optional(ms),
    exitCode: optional(integer({ minimum: 0 })),
    spec: optional(map(json<unknown>())),
  }),
  'job-cancelled': object(ofJob),
  scaling: object({ ...ofDeployment, policy: map(json<unknown>()) }),
  'scaling-deleted': object(ofDeployment),
  canary: object({
    ...ofDeployment,
    ...behaviour,
    change: map(json<unknown>()),
    replicas: integer({ minimum: 1 }),
    observe: string(),
  }),
  'canary-promoted': object({ ...ofDeployment, force: optional(boolean()) }),
  'canary-aborted': object(ofDeployment),
  restart: object(ofDeployment),
  rollback: object(ofDeployment),
  load: object({ ...ofDeployment, cpuMillis: integer({ minimum: 0 }) }),
  'server-killed': object(ofServer),
  'server-started': object(ofServer),
  'server-paused': forAWhile,
  'store-cut': forAWhile,
  'store-flaky': forAWhile,
  'store-slow': object({ ...forAWhile.fields, delayMs: ms }),
  'store-compacted': object({ at: ms, do: string() }),
  quota: object({
    at: ms,
    do: string(),
    tenant: string(),
    kind: oneOf(QUOTA_KINDS),
    limit: integer({ minimum: 0 }),
  }),
}
