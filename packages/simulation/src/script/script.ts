// The input of a simulation: a cluster, and the steps that happen to it over time. Files and seeds produce the same form.

export interface ScriptNode {
  readonly name: string
  readonly tenant: string
  /** Labels that its agent advertises; default none. */
  readonly labels?: { readonly [key: string]: string }
  /** Residency that enrollment attested. Default: the location of its labels. */
  readonly attested?: { readonly country?: string; readonly region?: string }
  readonly capacity?: { readonly cpuMillis: number; readonly memoryBytes: number }
}

export interface ScriptTenant {
  readonly name: string
  /** The platform itself under this name, instead of a tenant. */
  readonly platform?: boolean
  readonly quotas?: { readonly [kind: string]: number }
}

export interface ScriptCluster {
  /** Declared regions: name to countries. */
  readonly regions?: { readonly [region: string]: readonly string[] }
  /** False: residency is stored and not enforced. Default true. */
  readonly residencyEnforced?: boolean
  /** Names of the server replicas that run from the start; default `a` and `b`. */
  readonly servers?: readonly string[]
  readonly tenants: readonly ScriptTenant[]
  readonly nodes: readonly ScriptNode[]
}

/** Behaviour of the containers of a deployment that start from now on. */
export interface Behaviour {
  readonly startMs?: number
  /** Runs and never becomes healthy. */
  readonly unhealthy?: boolean
  /** Exits this long after its start. */
  readonly crashAfterMs?: number
}

/** `at` is virtual milliseconds since the start; in a file also `90s` or `2m`. */
export type Step = { readonly at: number } & StepAction

export type StepAction =
  /** Create or update. `spec` is the body that a client would send, without the name and the defaults of the simulation. */
  | {
      readonly do: 'apply'
      readonly tenant: string
      readonly deployment: string
      readonly spec?: { readonly [field: string]: unknown }
    }
  | { readonly do: 'delete'; readonly tenant: string; readonly deployment: string }
  | ({ readonly do: 'behave'; readonly tenant: string; readonly deployment: string } & Behaviour)
  /** The machine loses power and every container on it dies. */
  | { readonly do: 'node-lost'; readonly node: string }
  | { readonly do: 'node-back'; readonly node: string }
  /** The network of the machine is cut; its containers keep running. */
  | { readonly do: 'node-cut'; readonly node: string }
  | { readonly do: 'node-healed'; readonly node: string }
  | { readonly do: 'agent-restart'; readonly node: string }
  /** The agent's labels change; it advertises them after a restart, which is part of this step. */
  | { readonly do: 'labels'; readonly node: string; readonly labels: { readonly [key: string]: string } }
  | { readonly do: 'cordon'; readonly node: string }
  | { readonly do: 'uncordon'; readonly node: string }
  | { readonly do: 'drain'; readonly node: string }
  /** Whether the control plane itself runs on it. */
  | { readonly do: 'node-role'; readonly node: string; readonly controlPlane: boolean }
  /** DELETE of the node. `force`: at once, whatever runs on it. The machine itself does not notice. */
  | { readonly do: 'node-removed'; readonly node: string; readonly force?: boolean }
  /** The machine is reinstalled with new keys, by a new join token with this residency. */
  | {
      readonly do: 're-enroll'
      readonly node: string
      readonly attested?: { readonly country?: string; readonly region?: string }
    }
  | { readonly do: 'server-killed'; readonly server: string }
  | { readonly do: 'server-started'; readonly server: string }
  /** The process pauses and resumes with its old view. */
  | { readonly do: 'server-paused'; readonly server: string; readonly forMs: number }
  /** Its connection to the store is cut. */
  | { readonly do: 'store-cut'; readonly server: string; readonly forMs: number }
  /** Answers of the store get lost: the requests may have been applied. */
  | { readonly do: 'store-flaky'; readonly server: string; readonly forMs: number }
  | {
      readonly do: 'store-slow'
      readonly server: string
      readonly forMs: number
      readonly delayMs: number
    }
  /** The store compacts its history: a server that is cut off then must list everything again. */
  | { readonly do: 'store-compacted' }
  | { readonly do: 'quota'; readonly tenant: string; readonly kind: string; readonly limit: number }

export interface Script {
  /** Default 1. */
  readonly seed?: number
  readonly cluster: ScriptCluster
  readonly steps: readonly Step[]
  /**
   * `coarse`: servers run periodic work less often and consider each other dead after 24 s instead of 12, so that a virtual
   * hour costs less. Default `true`: the timings of a real server.
   */
  readonly pace?: 'true' | 'coarse'
  /** Virtual milliseconds after the last step; default 3 minutes. */
  readonly settleMs?: number
}
