// Which artefacts are described by a bill of materials and a notice, and what ships in each.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuiltBundle, Program } from './bundles/bundles.ts'
import { licenceFaults } from './shipped/check-licences.ts'
import { engineBinaries } from './gather-built.ts'
import { gatherGo } from './shipped/gather-go.ts'
import { binaryNode, gatherNpm } from './shipped/gather-npm.ts'
import { noticeOf } from './shipped/notice.ts'
import { PACKAGE_NAMES, type PackageName } from './package-plan.ts'
import { type Shipped, uniqueShipped } from './shipped/shipped.ts'

const ROOT = join(import.meta.dirname, '../..')

export type ArtefactName =
  | PackageName
  | 'holdfast-agent-binary'
  | 'holdfast-cli-binary'
  | 'holdfast-server-image'

export const ARTEFACT_NAMES: readonly ArtefactName[] = [
  ...PACKAGE_NAMES,
  'holdfast-agent-binary',
  'holdfast-cli-binary',
  'holdfast-server-image',
]

export type PerArtefact<T> = { readonly [A in ArtefactName]: T }

interface Sources {
  readonly bundles: { readonly [P in Program]: BuiltBundle }
  readonly agentBinary: BuiltBundle
  /** The Debian packages of the image. */
  readonly base: readonly Shipped[]
}

export function gatherShipped({ bundles, agentBinary, base }: Sources): PerArtefact<readonly Shipped[]> {
  const engines = (['etcd', 'vault', 'caddy'] as const).flatMap(engineBinaries).map(([, path]) => path)
  const server = gatherNpm(bundles['holdfast-server'])
  return {
    'holdfast-server': uniqueShipped(server),
    'holdfast-agent': uniqueShipped(gatherNpm(bundles['holdfast-agent'])),
    'holdfast-cli': uniqueShipped(gatherNpm(bundles['holdfast-cli'])),
    'holdfast-engines': uniqueShipped(gatherGo(engines)),
    'holdfast-agent-binary': uniqueShipped(gatherNpm(agentBinary, binaryNode())),
    'holdfast-cli-binary': uniqueShipped(gatherNpm(bundles['holdfast-cli'], binaryNode())),
    'holdfast-server-image': uniqueShipped([...server, ...base]),
  }
}

/** The notice of each artefact. Throws if a component must not ship. */
export function requireNotices(shipped: PerArtefact<readonly Shipped[]>): PerArtefact<string> {
  const faults = ARTEFACT_NAMES.flatMap((name) =>
    licenceFaults(shipped[name]).map((fault) => `${name}: ${fault}`),
  )
  if (faults.length > 0) throw new Error(`Licences:\n${faults.join('\n')}`)
  const own = readFileSync(join(ROOT, 'LICENSE'), 'utf8')
  const notice = (name: ArtefactName): string => noticeOf(name, own, shipped[name])
  return {
    'holdfast-server': notice('holdfast-server'),
    'holdfast-agent': notice('holdfast-agent'),
    'holdfast-cli': notice('holdfast-cli'),
    'holdfast-engines': notice('holdfast-engines'),
    'holdfast-agent-binary': notice('holdfast-agent-binary'),
    'holdfast-cli-binary': notice('holdfast-cli-binary'),
    'holdfast-server-image': notice('holdfast-server-image'),
  }
}
