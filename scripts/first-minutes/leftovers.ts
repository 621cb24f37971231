// Finds processes and files that a stopped development platform left behind. They are recorded while the platform is
// running.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { labLeftovers, labProcesses } from '@holdfast/testkit/lab/lab-leftovers'

const LAB = /^unix:\/\/(.*\/holdfast-lab(\d+)-[^/]+)\//

/** Records the platform's processes and files; returns a function that lists those that still exist. */
export function watchLeftovers(clone: string): () => string[] {
  const platform = join(clone, '.dev')
  const { nodes } = JSON.parse(readFileSync(join(platform, 'env.json'), 'utf8'))
  const [, folder, slot] = LAB.exec(String(nodes?.[0]?.engine)) ?? []
  if (folder === undefined) throw new Error('the platform has no nodes, because they need root')
  const prefix = `hf${slot}`
  const trace = { prefix, folder, pids: labProcesses(prefix) }
  return () => [...labLeftovers(trace), ...processesOf(clone), ...[platform].filter(existsSync)]
}

/** Processes of a platform, found by the platform's folder, which is in the command line of each of them. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return /^\d+$/.test(pid) && line.includes(folder) ? [`process ${pid} ${line}`] : []
    } catch {
      // The process ended while the list was read.
      return []
    }
  })
}
