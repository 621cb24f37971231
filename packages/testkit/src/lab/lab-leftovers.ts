// Finds parts of a lab that still exist on this machine. Tests check that none exists after the lab has ended.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../engines/process-record.ts'
import { textMember } from '../http-json.ts'

export interface LabTrace {
  /** Prefix of the names of a lab (`hf3`) or of one of its nodes (`hf3-n1`). */
  readonly prefix: string
  readonly folder: string
  readonly pids: readonly number[]
}

/** A description of each part of the lab that still exists. */
export function labLeftovers({ prefix, folder, pids }: LabTrace): string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return [
    ...(isReissued(prefix, folder) ? [] : leftUnderItsName(prefix)),
    ...mounts.filter((line) => line.includes(folder)),
    ...pids.filter(isAlive).map((pid) => `process ${pid}`),
    ...[folder].filter(existsSync),
  ]
}

function leftUnderItsName(prefix: string): string[] {
  const hierarchies = ['', ...listed('/sys/fs/cgroup')].map((name) => join('/sys/fs/cgroup', name))
  return [
    ...listed('/run/netns').filter((name) => `${name}-`.startsWith(`${prefix}-`)),
    ...listed('/sys/class/net').filter((name) => name === prefix),
    ...hierarchies.map((hierarchy) => join(hierarchy, cgroupOf(prefix))).filter(existsSync),
  ]
}

/** True if another process on this machine has a lab with the same name by now. */
function isReissued(prefix: string, folder: string): boolean {
  const file = `/run/holdfast-labs/${prefix.replace(/^hf(\d+).*/, '$1')}.json`
  const owned = existsSync(file) ? textMember(JSON.parse(readFileSync(file, 'utf8')), 'folder') : folder
  return !folder.startsWith(owned)
}

/** Ids of the processes of a lab or node: engine, shims, agent, and the processes in containers. */
export function labProcesses(prefix: string): number[] {
  const within = `/${cgroupOf(prefix)}/`
  return listed('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && cgroupsOfProcess(pid).includes(within))
}

/** The cgroup of a lab (`hf3`) or of one of its nodes (`hf3-n1`). */
export const cgroupOf = (prefix: string): string => prefix.replace('hf', 'holdfast-lab-').replace('-n', '/n')

function cgroupsOfProcess(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    return ''
  }
}

const listed = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])
