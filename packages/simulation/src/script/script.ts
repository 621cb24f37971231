// The input of a simulation: a cluster, and timed steps such as requests and faults. Files and seeds produce the same
// form.

export interface ScriptNode {
  readonly name: string
  readonly tenant: string
  /** Labels that the agent of the node advertises; default none. */
  readonly labels?: { readonly [key: string]: string }
  /** Residency that enrollment attested for the node. Default: the location in the node's labels. */
  readonly attested?: { readonly country?: string; readonly region?: string }
  readonly capacity?: { readonly cpuMillis: number; readonly memoryBytes: number }
  /** Size of the node's storage pool; default: no pool. Volumes are enabled if a node has one. */
  readonly poolBytes?: number
}

export interface ScriptTenant {
  readonly name: string
  /** True if this entry in the script's list of tenants is the platform itself. */
  readonly platform?: boolean
  readonly quotas?: { readonly [kind: string]: number }
}

export interface ScriptCluster {
  /** Declared regions, each with its countries. */
  readonly regions?: { readonly [region: string]: readonly string[] }
  /** False if residency demands are stored but not enforced. Default true. */
  readonly residencyEnforced?: boolean
  /** Names of the server replicas that run from the start; default `a` and `b`. */
  readonly servers?: readonly string[]
  readonly tenants: readonly ScriptTenant[]
  readonly nodes: readonly ScriptNode[]
}

/** Behavior of a deployment's containers. A `behave` step changes the behavior of containers that start afterwards. */
export interface Behaviour {
  readonly startMs?: number
  /** True if the containers run and never become healthy. */
  readonly unhealthy?: boolean
  /** Time from the start of a container to its exit, in milliseconds. */
  readonly crashAfterMs?: number
  /** Exit code at that time; default 1. */
  readonly exitCode?: number
}

/**
 * A timed failure of a machine may name `@VOLUME` as its node: the machine that then is the primary of the
 * first volume with that name.
 */
export const PRIMARY_OF = '@'
/** It may also name `@job/JOB`: the machine to which the last attempt of the job was then assigned. */
export const NODE_OF_JOB = '@job/'

/**
 * Why no container can be created: the engine fails, the network of the tenant cannot be set up, or the disk is full. A
 * registry that does not answer is no cause of the machine.
 */
export const CREATION_FAULTS = ['engine', 'network', 'disk', 'registry'] as const
export type CreationFault = (typeof CREATION_FAULTS)[number]

/** A timed action of a script. `at` is virtual milliseconds since the start; in a file also `90s` or `2m`. */
export type Step = { readonly at: number } & StepAction

export type StepAction =
  /**
   * Creates or updates a deployment. `spec` is a request body without the name and without the simulation's defaults. Its
   * mounts refer to volumes by name.
   */
  | {
      readonly do: 'apply'
      readonly tenant: string
      readonly deployment: string
      readonly spec?: { readonly [field: string]: unknown }
    }
  | { readonly do: 'delete'; readonly tenant: string; readonly deployment: string }
  | ({ readonly do: 'behave'; readonly tenant: string; readonly deployment: string } & Behaviour)
  /** The machine loses power, and every container on it stops. */
  | { readonly do: 'node-lost'; readonly node: string }
  | { readonly do: 'node-back'; readonly node: string }
  /** The network of the machine is cut; its containers keep running. */
  | { readonly do: 'node-cut'; readonly node: string }
  | { readonly do: 'node-healed'; readonly node: string }
  | { readonly do: 'agent-restart'; readonly node: string }
  /** The agent, or the fencer, dies and is started again after a time. */
  | { readonly do: 'agent-killed' | 'fencer-killed'; readonly node: string; readonly forMs: number }
  /** The machine loses power, or its network, for a time. */
  | { readonly do: 'power-cut' | 'network-cut'; readonly node: string; readonly forMs: number }
  /** Every process of the machine is frozen, its fencer and its containers too. */
  | { readonly do: 'node-frozen'; readonly node: string; readonly forMs: number }
  /** The container engine accepts requests and carries them out only after this time. Containers keep running. */
  | { readonly do: 'engine-stopped'; readonly node: string; readonly forMs: number }
  /** No container can be created on the machine for a time; those that are there keep running. */
  | {
      readonly do: 'cannot-create'
      readonly node: string
      readonly cause: CreationFault
      readonly forMs: number
    }
  /** The machine reaches no server for a time; it reaches other machines. */
  | { readonly do: 'servers-cut'; readonly node: string; readonly forMs: number }
  /** Messages of one machine do not reach another one for a time; those in the other direction neither unless `oneWay`. */
  | {
      readonly do: 'peer-cut'
      readonly node: string
      readonly to: string
      readonly oneWay: boolean
      readonly forMs: number
    }
  /** The clock of the machine runs faster or slower from now on, in percent of its rate. */
  | { readonly do: 'clock-rate'; readonly node: string; readonly percent: number }
  /** The wall clock of the machine, or of a server's host, is wrong by so much for a time. Its other clocks are not. */
  | { readonly do: 'wall-step'; readonly node: string; readonly byMs: number; readonly forMs: number }
  | {
      readonly do: 'server-wall-step'
      readonly server: string
      readonly byMs: number
      readonly forMs: number
    }
  /** The labels in the agent's configuration change, and the agent restarts to advertise the new labels. */
  | { readonly do: 'labels'; readonly node: string; readonly labels: { readonly [key: string]: string } }
  /** The node's agent is replaced by one of another version, which states these capabilities; absent: it states none. */
  | { readonly do: 'agent-version'; readonly node: string; readonly capabilities?: readonly string[] }
  | { readonly do: 'cordon'; readonly node: string }
  | { readonly do: 'uncordon'; readonly node: string }
  | { readonly do: 'drain'; readonly node: string }
  /** Changes whether the control plane itself runs on the node. */
  | { readonly do: 'node-role'; readonly node: string; readonly controlPlane: boolean }
  /** DELETE of the node; `force` does not wait for the node's containers. The machine itself is not notified. */
  | { readonly do: 'node-removed'; readonly node: string; readonly force?: boolean }
  /** The machine is reinstalled with new keys and enrolls with a new join token, which attests this residency. */
  | {
      readonly do: 're-enroll'
      readonly node: string
      readonly attested?: { readonly country?: string; readonly region?: string }
    }
  /** Creates a volume. `spec` is a request body without the name. `on` names the node of the primary. */
  | {
      readonly do: 'volume'
      readonly tenant: string
      readonly volume: string
      readonly on?: string
      readonly spec: { readonly [field: string]: unknown }
    }
  | {
      readonly do: 'volume-resized'
      readonly tenant: string
      readonly volume: string
      readonly sizeBytes: number
    }
  | {
      readonly do: 'volume-replicas'
      readonly tenant: string
      readonly volume: string
      readonly replicas: number
    }
  | {
      readonly do: 'replica-added' | 'replica-removed'
      readonly tenant: string
      readonly volume: string
      readonly node: string
    }
  | { readonly do: 'volume-deleted'; readonly tenant: string; readonly volume: string }
  /** Creates a network. `spec` has its options, without the name. `on` names its node. */
  | {
      readonly do: 'network'
      readonly tenant: string
      readonly network: string
      readonly on?: string
      readonly spec?: { readonly [field: string]: unknown }
    }
  | { readonly do: 'network-delete'; readonly tenant: string; readonly network: string }
  /** The engine of the node loses the network; its containers stay and are attached to it no longer. */
  | { readonly do: 'network-lost'; readonly node: string; readonly network: string }
  /** A network that is not the tenant's has the name of this one on the engine of the node, for a time. */
  | {
      readonly do: 'network-taken'
      readonly node: string
      readonly network: string
      readonly forMs: number
    }
  /**
   * Creates a job. Its containers exit after `runMs` with `exitCode`, by default 0; without `runMs` they run until they
   * are stopped. `spec` is a request body without the name and the image.
   */
  | {
      readonly do: 'job'
      readonly tenant: string
      readonly job: string
      readonly runMs?: number
      readonly exitCode?: number
      readonly spec?: { readonly [field: string]: unknown }
    }
  | { readonly do: 'job-cancelled'; readonly tenant: string; readonly job: string }
  /** Sets or changes the scaling policy of a deployment. `policy` is a request body. */
  | {
      readonly do: 'scaling'
      readonly tenant: string
      readonly deployment: string
      readonly policy: { readonly [field: string]: unknown }
    }
  | { readonly do: 'scaling-deleted'; readonly tenant: string; readonly deployment: string }
  /** Starts a canary. `change` has fields of a spec. The behavior is that of its containers as long as it runs. */
  | ({
      readonly do: 'canary'
      readonly tenant: string
      readonly deployment: string
      readonly change: { readonly [field: string]: unknown }
      readonly replicas: number
      /** A duration such as `30s`. */
      readonly observe: string
    } & Behaviour)
  | {
      readonly do: 'canary-promoted'
      readonly tenant: string
      readonly deployment: string
      readonly force?: boolean
    }
  | { readonly do: 'canary-aborted'; readonly tenant: string; readonly deployment: string }
  | { readonly do: 'restart'; readonly tenant: string; readonly deployment: string }
  /** Restores the revision before the current one. */
  | { readonly do: 'rollback'; readonly tenant: string; readonly deployment: string }
  /** The containers of the deployment that are ready and reached use so much together, in equal parts, from now on. */
  | { readonly do: 'load'; readonly tenant: string; readonly deployment: string; readonly cpuMillis: number }
  | { readonly do: 'server-killed'; readonly server: string }
  | { readonly do: 'server-started'; readonly server: string }
  /** The server process is paused and resumes with its outdated cache. */
  | { readonly do: 'server-paused'; readonly server: string; readonly forMs: number }
  /** The connection between a server and the store is cut. */
  | { readonly do: 'store-cut'; readonly server: string; readonly forMs: number }
  /** Answers of the store to a server get lost, although the requests may have been applied. */
  | { readonly do: 'store-flaky'; readonly server: string; readonly forMs: number }
  | {
      readonly do: 'store-slow'
      readonly server: string
      readonly forMs: number
      readonly delayMs: number
    }
  /** The store compacts its history, so that a server without connection must later list all records again. */
  | { readonly do: 'store-compacted' }
  | { readonly do: 'quota'; readonly tenant: string; readonly kind: string; readonly limit: number }

export interface Script {
  /** Seed of the simulation; default 1. */
  readonly seed?: number
  readonly cluster: ScriptCluster
  readonly steps: readonly Step[]
  /**
   * `coarse`: servers run periodic work less often and declare each other dead after 24 s instead of 12 s, which makes a
   * long simulation faster. Default `true`: the timings of a real server.
   */
  readonly pace?: 'true' | 'coarse'
  /** Virtual milliseconds that the simulation continues after the last step; default 3 minutes. */
  readonly settleMs?: number
  /** The simulation ends earlier once the cluster has been settled for so many virtual milliseconds; default never. */
  readonly restMs?: number
}
