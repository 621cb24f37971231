// What a simulation is given: a cluster, and what happens to it when. The same shape from a file and from a seed.

export interface ScriptNode {
  readonly name: string
  readonly tenant: string
  /** What its agent advertises; default none. */
  readonly labels?: { readonly [key: string]: string }
  /** What enrollment proved of where it stands. Default: what its labels say. */
  readonly attested?: { readonly country?: string; readonly region?: string }
  readonly capacity?: { readonly cpuMillis: number; readonly memoryBytes: number }
}

export interface ScriptTenant {
  readonly name: string
  /** The platform itself under this name, and no tenant of its own. */
  readonly platform?: boolean
  readonly quotas?: { readonly [kind: string]: number }
}

export interface ScriptCluster {
  /** Declared regions: name to countries. */
  readonly regions?: { readonly [region: string]: readonly string[] }
  /** False: where data must stay is stored and not acted on. Default true. */
  readonly residencyEnforced?: boolean
  /** Names of the server replicas that run from the start; default `a` and `b`. */
  readonly servers?: readonly string[]
  readonly tenants: readonly ScriptTenant[]
  readonly nodes: readonly ScriptNode[]
}

/** How the containers of a deployment behave wherever they are started from now on. */
export interface Behaviour {
  readonly startMs?: number
  /** Runs and never becomes healthy. */
  readonly unhealthy?: boolean
  /** Exits so long after its start. */
  readonly crashAfterMs?: number
}

/** `at` is virtual milliseconds since the start; in a file also `90s` or `2m`. */
export type Step = { readonly at: number } & StepAction

export type StepAction =
  /** Create or update. `spec` is what a client would send, less name and defaults of the simulation. */
  | {
      readonly do: 'apply'
      readonly tenant: string
      readonly deployment: string
      readonly spec?: { readonly [field: string]: unknown }
    }
  | { readonly do: 'delete'; readonly tenant: string; readonly deployment: string }
  | ({ readonly do: 'behave'; readonly tenant: string; readonly deployment: string } & Behaviour)
  /** Without power: every container on it is dead. */
  | { readonly do: 'node-lost'; readonly node: string }
  | { readonly do: 'node-back'; readonly node: string }
  /** Its network is cut and its containers run on. */
  | { readonly do: 'node-cut'; readonly node: string }
  | { readonly do: 'node-healed'; readonly node: string }
  | { readonly do: 'agent-restart'; readonly node: string }
  /** The agent's configuration is another one now; it is advertised after a restart, which is part of this step. */
  | { readonly do: 'labels'; readonly node: string; readonly labels: { readonly [key: string]: string } }
  | { readonly do: 'cordon'; readonly node: string }
  | { readonly do: 'uncordon'; readonly node: string }
  | { readonly do: 'drain'; readonly node: string }
  /** Whether the control plane itself runs on it. */
  | { readonly do: 'node-role'; readonly node: string; readonly controlPlane: boolean }
  /** DELETE of the node. `force`: at once, whatever runs on it. The machine itself knows nothing of it. */
  | { readonly do: 'node-removed'; readonly node: string; readonly force?: boolean }
  /** The machine is set up anew, with new keys, by a new join token with this residency. */
  | {
      readonly do: 're-enroll'
      readonly node: string
      readonly attested?: { readonly country?: string; readonly region?: string }
    }
  | { readonly do: 'server-killed'; readonly server: string }
  | { readonly do: 'server-started'; readonly server: string }
  /** The process stands still and goes on with what it believed. */
  | { readonly do: 'server-paused'; readonly server: string; readonly forMs: number }
  /** Its way to the store is gone. */
  | { readonly do: 'store-cut'; readonly server: string; readonly forMs: number }
  /** Answers of the store get lost: what was asked may have been done. */
  | { readonly do: 'store-flaky'; readonly server: string; readonly forMs: number }
  | {
      readonly do: 'store-slow'
      readonly server: string
      readonly forMs: number
      readonly delayMs: number
    }
  /** The store forgets its history: whoever is cut off then must list anew. */
  | { readonly do: 'store-compacted' }
  | { readonly do: 'quota'; readonly tenant: string; readonly kind: string; readonly limit: number }

export interface Script {
  /** Default 1. */
  readonly seed?: number
  readonly cluster: ScriptCluster
  readonly steps: readonly Step[]
  /**
   * `coarse`: servers look around more seldom, and hold one another for dead after 24 s rather than 12, so that a virtual hour
   * costs less. Default `true`: the times of a real server.
   */
  readonly pace?: 'true' | 'coarse'
  /** Virtual milliseconds after the last step; default 3 minutes. */
  readonly settleMs?: number
}
