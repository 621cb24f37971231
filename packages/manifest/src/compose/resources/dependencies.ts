// Resolves the dependencies between services: which deployment waits for which, and that they run on one node, because
// names of deployments resolve on the nodes that run them only.

import { isJsonObject, type JsonObject } from '@holdfast/contract'
import type { Draft } from '../draft.ts'
import type { Report } from '../report.ts'

const NOT_IMPORTED = 'The service is not part of the import.'
const SAME_NODE = 'The name of a deployment resolves on the nodes that run it.'
const SAME_NODE_NEXT = 'With several nodes and volumes, use --node to have everything on one node.'

export function resolveDependencies(report: Report, drafts: readonly Draft[], isOnOneNode: boolean): void {
  const byService = new Map(drafts.map((draft) => [draft.service, draft]))
  const waits = new Map<string, Set<string>>()
  for (const draft of drafts) {
    const found: JsonObject = {}
    // Networks of Compose files are on one node, with everything that joins them.
    const needsAffinity = !isOnOneNode && draft.fields.networks === undefined
    for (const { node, service, condition } of draft.dependencies) {
      const target = byService.get(service)
      if (target === undefined) report.refused(node, NOT_IMPORTED)
      else if (reaches(waits, target.name, draft.name))
        report.refused(node, 'The services would wait for each other.')
      else {
        const isChecked = target.fields.healthCheck !== undefined
        if (condition === 'healthy' && !isChecked)
          report.changed(
            node,
            `it waits until ${target.name} is started`,
            `${target.name} has no health check in its manifest.`,
            'Add a health check to it.',
          )
        found[target.name] = condition === 'healthy' && isChecked ? 'healthy' : 'started'
        waits.set(draft.name, (waits.get(draft.name) ?? new Set()).add(target.name))
        if (needsAffinity)
          report.changed(node, `${draft.name} runs on a node of ${target.name}`, SAME_NODE, SAME_NODE_NEXT)
      }
    }
    const names = Object.keys(found)
    if (names.length === 0) continue
    draft.fields.dependsOn = found
    if (needsAffinity) addAffinity(draft, names)
  }
}

/** Whether a deployment waits for another one, directly or through others, or is that one. */
function reaches(waits: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set<string>()
  const open = [from]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === to) return true
    if (seen.has(next)) continue
    seen.add(next)
    open.push(...(waits.get(next) ?? []))
  }
  return false
}

function addAffinity({ fields }: Draft, names: readonly string[]): void {
  fields.placement = { ...(isJsonObject(fields.placement) ? fields.placement : {}), affinity: [...names] }
}
