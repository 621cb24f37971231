// Removes a node or a complete lab, even of a killed process: processes, mounts, network, files. Everything is found by
// the lab's number, nothing by the name of a program. Synchronous, because exit handlers call it.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { engineBinary } from '../engines/engine-binaries.ts'
import { runCommand } from '../run-command.ts'
import { freezeCgroup, killCgroup, removeCgroup } from './cgroup-tree.ts'
import { removeLabNetwork } from './lab-network.ts'

export interface LabRemains {
  readonly number: number
  readonly prefix: string
  /** Folder of the lab; undefined if none was recorded. */
  readonly folder: string | undefined
}

export const labCgroup = (lab: { readonly number: number }): string => `holdfast-lab-${lab.number}`

export function removeLabRemains(lab: LabRemains): void {
  killCgroup(labCgroup(lab))
  removeLabNetwork(lab.prefix)
  if (lab.folder !== undefined && existsSync(lab.folder)) {
    for (const node of readdirSync(lab.folder)) removeShimSockets(join(lab.folder, node))
    endMounts(lab.folder)
    rmSync(lab.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
  removeCgroup(labCgroup(lab))
}

/**
 * Leaves the node as after a power cut: no process, no mount, an empty /run. The callback is called while all processes
 * are frozen, which is the moment of the cut.
 */
export function cutPower(
  node: { readonly cgroup: string; readonly folder: string },
  atTheCut: () => void = () => {},
): void {
  // Frozen processes end together, so the engine and the shims cannot record how the containers ended.
  freezeCgroup(node.cgroup)
  atTheCut()
  killCgroup(node.cgroup)
  removeShimSockets(node.folder)
  endMounts(node.folder)
  removeCgroup(node.cgroup)
  rmSync(join(node.folder, 'run'), { recursive: true, force: true })
}

function removeShimSockets(folder: string): void {
  for (const socket of shimSockets(folder)) rmSync(socket, { force: true })
}

function endMounts(folder: string): void {
  // Mounts may be stacked, so the newest mount is unmounted first, until no mount is left.
  for (let mounts = mountsBelow(folder); mounts.length > 0; mounts = mountsBelow(folder)) {
    runCommand(engineBinary('umount'), ['--lazy', ...mounts.reverse()])
  }
}

function mountsBelow(folder: string): string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
  return points.filter((point) => point.startsWith(`${folder}/`))
}

/**
 * Sockets of containerd's shims, which are always under /run. Each container's bundle has the path of its socket
 * (containerd 1.6: address, 2: bootstrap.json).
 */
function shimSockets(folder: string): string[] {
  const bundles = join(folder, 'run', 'containerd', 'io.containerd.runtime.v2.task', 'moby')
  if (!existsSync(bundles)) return []
  return readdirSync(bundles).flatMap((id) =>
    ['address', 'bootstrap.json']
      .map((name) => join(bundles, id, name))
      .filter((file) => existsSync(file))
      .flatMap((file) => /unix:\/\/([^"\s]+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? []),
  )
}
