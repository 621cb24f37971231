// Prepares documents of kind Job: replaces names of nodes by ids, and finds the faults that need no platform.

import type { Client, Result } from '@holdfast/client'
import { jobNodeFault, type Manifest } from '@holdfast/manifest'
import { nodesByName, withNodeId } from '../manifest/node-names.ts'
import type { Prepared } from '../volumes/prepared.ts'

export async function prepareJobs(
  client: Client,
  documents: readonly Prepared[],
): Promise<Result<readonly Prepared[]>> {
  const manifests = documents.flatMap(({ kind, manifest }) => (kind === 'Job' ? manifest : []))
  const nodes = await nodesByName(client, manifests)
  if (!nodes.ok) return nodes
  const value = documents.map((document) =>
    document.kind === 'Job' ? prepareJob(document, nodes.value) : document,
  )
  return { ok: true, value }
}

function prepareJob(document: Prepared, nodes: ReadonlyMap<string, string>): Prepared {
  const { manifest, faults } = withNodeId(document.manifest, nodes, jobNodeFault)
  // The judged document is the same one without some mounts and networks.
  const judged: Manifest = withNodeId({ ...manifest, value: document.judged }, nodes, jobNodeFault).manifest
  return { ...document, manifest, judged: judged.value, faults: [...document.faults, ...faults] }
}
