// Plans what each package contains, as data: files with their place and mode, dependencies and maintainer scripts.

import type { Program } from './bundles/bundles.ts'
import { DOWNGRADE_CHECK } from './downgrade-check.ts'
import { type MaintainerScripts, maintainerScripts } from './maintainer-scripts.ts'
import type { Unit } from './units.ts'

export type PackageName = Program | 'holdfast-engines'
export const PACKAGE_NAMES: readonly PackageName[] = [
  'holdfast-server',
  'holdfast-agent',
  'holdfast-cli',
  'holdfast-engines',
]

export type Content =
  | { readonly kind: 'copy'; readonly from: string; readonly to: string; readonly mode: number }
  | {
      readonly kind: 'text'
      readonly text: string
      readonly to: string
      readonly mode: number
      readonly config?: true
    }
  | { readonly kind: 'link'; readonly target: string; readonly to: string }

export interface PackagePlan {
  readonly name: PackageName
  readonly description: string
  readonly contents: readonly Content[]
  readonly scripts: MaintainerScripts
  readonly depends: { readonly deb: readonly string[]; readonly rpm: readonly string[] }
  readonly recommends: readonly string[]
  readonly conflicts: readonly string[]
}

/** Everything that was built and found before packages are planned. Paths are absolute. */
export interface Built {
  readonly node: string
  /** Files of the bundle by their path below its folder. */
  readonly bundleFiles: { readonly [P in Program]: ReadonlyMap<string, string> }
  readonly engines: ReadonlyMap<string, string>
  readonly units: readonly Unit[]
  /** Source of a unit, as an absolute path. */
  readonly pathOf: (unit: Unit) => string
  readonly serverExample: string
  /** Text of the drop-in with which the agent may have a pool. */
  readonly poolRights: string
  readonly notices: { readonly [P in PackageName]: string }
}

const PLAIN = 0o644
const EXECUTABLE = 0o755
const NODE_LIBRARIES = {
  deb: ['libc6 (>= 2.28)', 'libstdc++6', 'libgcc-s1'],
  rpm: ['glibc >= 2.28', 'libstdc++', 'libgcc'],
}
/**
 * The gRPC client names the server in each TLS handshake with etcd, also if the endpoint is an IP address. Node prints the warning
 * DEP0123 for it, and every command of operators would begin with that.
 */
export const SERVER_NODE_OPTIONS: readonly string[] = ['--disable-warning=DEP0123']
const ENGINES_FOLDER = '/usr/lib/holdfast/engines'
const ENGINE_SETTINGS = ['/etc/holdfast/etcd.env', '/etc/holdfast/vault.hcl']
const AGENT_EXAMPLE = `# Copy to /etc/holdfast/agent.env, then: systemctl restart holdfast-agent
# All options: holdfast-agent --help
OPTIONS=--peer-address 10.0.0.21:8081
`

/** Which package installs a unit: units of engines belong to the engines, the others to the package of their folder. */
export function packageOfUnit({ name, source }: Unit): PackageName {
  if (name === 'holdfast-etcd.service' || name === 'holdfast-vault.service') return 'holdfast-engines'
  return source.startsWith('packages/agent/') ? 'holdfast-agent' : 'holdfast-server'
}

export function planPackages(built: Built): PackagePlan[] {
  return [planServer(built), planAgent(built), planCli(built), planEngines(built)]
}

function planServer(built: Built): PackagePlan {
  const example: Content = {
    kind: 'text',
    text: built.serverExample,
    to: '/etc/holdfast/server.example.yaml',
    mode: PLAIN,
    config: true,
  }
  const written = ['server.yaml', 'broker.yaml', 'server-cluster-key', 'broker-cluster-key']
  const issued = ['api-secret-id', 'broker-secret-id', 'pki']
  return {
    ...program(
      'holdfast-server',
      built,
      { 'holdfast-server': 'server/dist/holdfast-server.mjs' },
      [example],
      {
        users: ['holdfast-server', 'holdfast-broker'],
        purged: [
          ...[...written, ...issued].map((name) => `/etc/holdfast/${name}`),
          '/var/lib/holdfast/setup',
        ],
        keepRunning: [],
        downgradeCheck: DOWNGRADE_CHECK,
        nodeOptions: SERVER_NODE_OPTIONS,
      },
    ),
    description: 'Control plane of Holdfast: API, controllers, gateway, broker and dashboard',
    depends: { deb: [...NODE_LIBRARIES.deb, 'openssl'], rpm: [...NODE_LIBRARIES.rpm, 'openssl'] },
    recommends: ['holdfast-engines'],
  }
}

function planAgent(built: Built): PackagePlan {
  const programs = { 'holdfast-agent': 'holdfast-agent.mjs', 'holdfast-fencer': 'holdfast-fencer.mjs' }
  const example: Content = {
    kind: 'text',
    text: AGENT_EXAMPLE,
    to: '/etc/holdfast/agent.example.env',
    mode: PLAIN,
    config: true,
  }
  const poolRights: Content = {
    kind: 'text',
    text: built.poolRights,
    to: '/usr/lib/holdfast-agent/holdfast-agent-pool.conf',
    mode: PLAIN,
  }
  return {
    ...program('holdfast-agent', built, programs, [example, poolRights], {
      users: [],
      purged: ['/etc/holdfast/agent.env', '/etc/systemd/system/holdfast-agent.service.d/pool.conf'],
      // Restarting the router would close the connections of clients for an upgrade that does not concern it.
      keepRunning: ['holdfast-caddy.service'],
    }),
    description: 'Node agent of Holdfast: runs the containers of one machine and routes requests to them',
    recommends: ['holdfast-engines', 'btrfs-progs'],
  }
}

function planCli(built: Built): PackagePlan {
  return {
    ...program('holdfast-cli', built, { holdfast: 'holdfast.mjs' }, [], {
      users: [],
      purged: [],
      keepRunning: [],
    }),
    description: 'Command line of Holdfast: apply manifests, inspect and operate a platform',
  }
}

/** etcd and the secrets store keep running in an upgrade: the operator restarts them one machine at a time. */
function planEngines(built: Built): PackagePlan {
  const units = unitsOf('holdfast-engines', built)
  const binaries = [...built.engines].map(
    ([name, from]): Content => ({ kind: 'copy', from, to: `${ENGINES_FOLDER}/${name}`, mode: EXECUTABLE }),
  )
  const caddy: Content = { kind: 'link', target: `${ENGINES_FOLDER}/caddy`, to: '/usr/bin/caddy' }
  return {
    name: 'holdfast-engines',
    description: 'etcd, Vault and Caddy for a Holdfast platform on one machine and for its nodes',
    contents: [...binaries, caddy, ...unitFiles(units, built), ...documents('holdfast-engines', built)],
    scripts: maintainerScripts({
      units,
      users: ['holdfast-etcd', 'holdfast-vault'],
      purged: [...ENGINE_SETTINGS, '/var/lib/holdfast/etcd', '/var/lib/holdfast/vault'],
      keepRunning: units.map(({ name }) => name),
    }),
    depends: { deb: ['libc6 (>= 2.34)'], rpm: ['glibc >= 2.34'] },
    recommends: [],
    conflicts: ['caddy'],
  }
}

interface ProgramFacts {
  readonly users: readonly string[]
  readonly purged: readonly string[]
  readonly keepRunning: readonly string[]
  readonly downgradeCheck?: string
  /** Options with which the launchers start Node. */
  readonly nodeOptions?: readonly string[]
}

/** A program: its bundle and its own Node below /usr/lib, a launcher for each command, its units and documents. */
function program(
  name: Program,
  built: Built,
  commands: { readonly [command: string]: string },
  more: readonly Content[],
  facts: ProgramFacts,
): Omit<PackagePlan, 'description'> {
  const folder = `/usr/lib/${name}`
  const units = unitsOf(name, built)
  const bundle = [...built.bundleFiles[name]].map(
    ([path, from]): Content => ({ kind: 'copy', from, to: `${folder}/${path}`, mode: PLAIN }),
  )
  const node: Content = { kind: 'copy', from: built.node, to: `${folder}/node`, mode: EXECUTABLE }
  const launchers = Object.entries(commands).map(
    ([command, path]): Content => ({
      kind: 'text',
      text: launcher(`${folder}/node`, `${folder}/${path}`, facts.nodeOptions),
      to: `/usr/bin/${command}`,
      mode: EXECUTABLE,
    }),
  )
  return {
    name,
    contents: [node, ...bundle, ...launchers, ...more, ...unitFiles(units, built), ...documents(name, built)],
    scripts: maintainerScripts({ units, ...facts }),
    depends: NODE_LIBRARIES,
    recommends: [],
    conflicts: [],
  }
}

/** `exec`: systemd must see the program's own process. */
export const launcher = (node: string, bundle: string, options: readonly string[] = []): string =>
  `#!/bin/sh\nexec ${[node, ...options, bundle].join(' ')} "$@"\n`

const unitsOf = (name: PackageName, { units }: Built): Unit[] =>
  units.filter((unit) => packageOfUnit(unit) === name)

const unitFiles = (units: readonly Unit[], { pathOf }: Built): Content[] =>
  units.map((unit) => ({
    kind: 'copy',
    from: pathOf(unit),
    to: `/usr/lib/systemd/system/${unit.name}`,
    mode: PLAIN,
  }))

const documents = (name: PackageName, { notices }: Built): Content[] => [
  { kind: 'text', text: notices[name], to: `/usr/share/doc/${name}/copyright`, mode: PLAIN },
]
