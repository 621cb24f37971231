// One etcd member that can be started, killed, paused, restarted, or replaced by a member without data.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from '../wait-until.ts'
import { engineBinary } from './engine-binaries.ts'
import { waitUntilReady } from './engine-home.ts'
import { type EngineProcess, startEngineProcess } from './engine-process.ts'
import { addEtcdMember, answersLinearizableRead, removeEtcdMember } from './etcd-admin.ts'

export interface EtcdMember {
  readonly name: string
  readonly endpoint: string
  /** The address at which the members of the cluster reach this one. */
  readonly peerUrl: string
  readonly dataDir: string
  /** Process id of the member's current process; changes with restart() and wipeAndReplace(). */
  readonly pid: number
  /** Kills the member with SIGKILL; resolves when its process has exited. */
  kill(): Promise<void>
  /** Stops the member with SIGSTOP: it answers nothing, with its sockets open. */
  pause(): void
  resume(): void
  /**
   * Kills a running member and starts it again on the same data; resolves when it answers, or at once with `wait: false`.
   */
  restart(options?: { readonly wait?: boolean }): Promise<void>
  /**
   * Replaces the member as after a lost disk: removes it from the cluster, deletes its data, and adds it under the same
   * name and addresses.
   */
  wipeAndReplace(): Promise<void>
}

export interface MemberPlan {
  readonly name: string
  readonly folder: string
  readonly clientPort: number
  readonly peerPort: number
  readonly flags: readonly string[]
  readonly detached: boolean
  /** All members of the cluster, including the described one. */
  readonly cluster: readonly MemberPlan[]
}

type ClusterState = 'new' | 'existing'

const clientUrl = (plan: MemberPlan): string => `http://127.0.0.1:${plan.clientPort}`
const peerUrl = (plan: MemberPlan): string => `http://127.0.0.1:${plan.peerPort}`

/**
 * Starts the member's process without waiting until it is ready, because members of a new cluster wait for each other.
 */
export function launchMember(plan: MemberPlan): EtcdMember & { ready(): Promise<void> } {
  const dataDir = join(plan.folder, 'data')
  let running = launch(plan, dataDir, 'new')
  const ready = () => waitForRead(plan, running)
  const startAgain = async (state: ClusterState, wait: boolean) => {
    running = launch(plan, dataDir, state)
    if (wait) await ready()
  }
  return {
    name: plan.name,
    endpoint: clientUrl(plan),
    peerUrl: peerUrl(plan),
    dataDir,
    get pid() {
      return running.pid
    },
    ready,
    kill: () => running.kill(),
    pause: () => running.pause(),
    resume: () => running.resume(),
    restart: async ({ wait = true } = {}) => {
      await running.kill()
      await startAgain('existing', wait)
    },
    wipeAndReplace: async () => {
      await running.kill()
      rmSync(dataDir, { recursive: true, force: true })
      await replaceInCluster(plan)
      await startAgain('existing', true)
    },
  }
}

async function replaceInCluster(plan: MemberPlan): Promise<void> {
  const others = plan.cluster.filter((other) => other.name !== plan.name).map(clientUrl)
  if (others.length === 0) throw new Error('a cluster of one member cannot replace it')
  // The other members may have to elect a leader first, and they reject membership changes until all members are
  // connected.
  const what = `${plan.name} is replaced`
  const helper = await waitUntil(() => firstThatAnswers(others), { what })
  await waitUntil(() => removeEtcdMember(helper, plan.name), { what })
  await waitUntil(() => addEtcdMember(helper, peerUrl(plan)), { what })
}

async function firstThatAnswers(endpoints: readonly string[]): Promise<string> {
  return Promise.any(endpoints.map(async (one) => (await answersLinearizableRead(one)) && one)).then(String)
}

function waitForRead(plan: MemberPlan, running: EngineProcess): Promise<void> {
  const probe = () => answersLinearizableRead(clientUrl(plan))
  return waitUntilReady(running, `${plan.name} answers a linearizable read`, probe)
}

function launch(plan: MemberPlan, dataDir: string, state: ClusterState): EngineProcess {
  return startEngineProcess({
    binary: engineBinary('etcd'),
    args: [...addressFlags(plan, dataDir, state), ...plan.flags],
    logFile: join(plan.folder, 'etcd.log'),
    detached: plan.detached,
  })
}

function addressFlags(plan: MemberPlan, dataDir: string, state: ClusterState): string[] {
  return [
    `--name=${plan.name}`,
    `--data-dir=${dataDir}`,
    `--listen-client-urls=${clientUrl(plan)}`,
    `--advertise-client-urls=${clientUrl(plan)}`,
    `--listen-peer-urls=${peerUrl(plan)}`,
    `--initial-advertise-peer-urls=${peerUrl(plan)}`,
    `--initial-cluster=${plan.cluster.map((one) => `${one.name}=${peerUrl(one)}`).join(',')}`,
    `--initial-cluster-state=${state}`,
  ]
}
