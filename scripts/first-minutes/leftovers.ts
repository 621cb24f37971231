// What a development platform could leave on this machine, written down while it is up and looked for when it is down.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { labLeftovers, labProcesses } from '@holdfast/testkit/lab/lab-leftovers'

const LAB = /^unix:\/\/(.*\/holdfast-lab(\d+)-[^/]+)\//

/** Asks in words what is still there. */
export function watchLeftovers(clone: string): () => string[] {
  const platform = join(clone, '.dev')
  const { nodes } = JSON.parse(readFileSync(join(platform, 'env.json'), 'utf8'))
  const [, folder, slot] = LAB.exec(String(nodes?.[0]?.engine)) ?? []
  if (folder === undefined) throw new Error('the platform has no nodes: they want root')
  const prefix = `hf${slot}`
  const trace = { prefix, folder, pids: labProcesses(prefix) }
  return () => [...labLeftovers(trace), ...processesOf(clone), ...[platform].filter(existsSync)]
}

/** Those that name the folder on their command line, as all of a platform do. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return /^\d+$/.test(pid) && line.includes(folder) ? [`process ${pid} ${line}`] : []
    } catch {
      return []
    }
  })
}
