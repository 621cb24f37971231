// Translates a Compose file into documents of Holdfast, with a report of every member that was changed or not carried over.

import type { Json, JsonObject } from '@holdfast/contract'
import { parseImageReference } from '@holdfast/core/admission'
import { admitDocument } from './admit.ts'
import { createKnownCredentials, isCredential, type KnownCredentials } from './credentials.ts'
import type { Draft } from './draft.ts'
import { mapOf, visitMembers } from './members.ts'
import { createNamePool } from './names.ts'
import { createReport, type Findings, type Report } from './report.ts'
import { resolveDependencies } from './resources/dependencies.ts'
import { planNetworks } from './resources/networks.ts'
import { planSecrets, type SecretToWrite } from './resources/secrets.ts'
import { planVolumes } from './resources/volumes.ts'
import { readVariables, type Surroundings, type Variable } from './service/environment.ts'
import { judgeService } from './service/judge-service.ts'
import { translateService } from './service/translate-service.ts'
import type { ReadSource } from './source/read-source.ts'
import { memberOf, type Written, type WrittenMap } from './source/written.ts'

export interface ImportOptions extends Surroundings {
  /** The size of every volume, because Compose has none. */
  readonly volumeSize: string
  /** The domain below which published ports become routes. */
  readonly domain?: string | undefined
  /** The id of the node that runs everything. */
  readonly nodeId?: string | undefined
}

export interface Imported extends Findings {
  readonly documents: readonly JsonObject[]
  /** Secrets that the user writes before the documents are applied. */
  readonly secrets: readonly SecretToWrite[]
  /** Sentences about the import as a whole. */
  readonly notes: readonly string[]
}

type ValidSource = Extract<ReadSource, { readonly ok: true }>

export function translateCompose({ root, lineOf }: ValidSource, options: ImportOptions): Imported {
  const report = createReport(lineOf)
  visitTop(report, root)
  const credentials = createKnownCredentials(root)
  const services = chooseServices(report, credentials, root, options)
  const secrets = planSecrets({
    report,
    credentials,
    labels: createNamePool('secret'),
    defined: memberOf(root, 'secrets'),
  })
  const routes = { domain: options.domain, hosts: createNamePool('host') }
  const drafts = services.map(({ draft }) => draft)
  const renamed = new Map(drafts.flatMap(({ service, name }) => (service === name ? [] : [[service, name]])))
  for (const { draft, variables } of services)
    translateService({ report, credentials, draft }, { variables, secrets, renamed, routes })
  const volumes = planVolumes(report, drafts, memberOf(root, 'volumes'), {
    size: options.volumeSize,
    nodeId: options.nodeId,
  })
  const networks = planNetworks(
    { report, credentials, defined: memberOf(root, 'networks'), nodeId: options.nodeId },
    drafts,
  )
  resolveDependencies(report, drafts, options.nodeId !== undefined)
  const deployments = drafts.map((draft) => ({ node: draft.node, document: documentOf(draft, options) }))
  reportUnset(report, credentials, root)
  const documents = admitAll(report, [
    ...[...networks, ...volumes].map((document) => ({ document, node: root })),
    ...deployments,
  ])
  return {
    documents,
    secrets: secrets.toWrite(),
    notes: notesOf(documents, drafts, options),
    ...report.findings(),
  }
}

const VERSION = 'It has no meaning in Compose.'
const PROJECT = 'Deployments are named after services, and a tenant takes the place of a project.'

function visitTop(report: Report, root: WrittenMap): void {
  visitMembers(root, {
    report,
    handlers: {
      ...{ services: () => {}, volumes: () => {}, networks: () => {}, secrets: () => {} },
      version: (node) => report.ignored(node, VERSION),
      name: (node) => report.ignored(node, PROJECT),
    },
    refusals: {
      configs: ['Files are not delivered to containers.', 'Add the files to the images, or use environment.'],
      include: ['Other files are not read.', 'Import each of the files.'],
      models: ['Holdfast runs no models.'],
    },
  })
}

interface ChosenService {
  readonly draft: Draft
  readonly variables: readonly Variable[]
}

/** The services that become deployments, with their variables, whose credentials are known before anything is written. */
function chooseServices(
  report: Report,
  credentials: KnownCredentials,
  root: WrittenMap,
  around: Surroundings,
): ChosenService[] {
  const names = createNamePool('service')
  const services = memberOf(root, 'services')
  const map = services === undefined ? undefined : mapOf(report, services)
  const all = [...(map?.members ?? [])].map(([service, node]) => ({
    service,
    node,
    variables: node.kind === 'map' ? readVariables(report, node, around) : [],
  }))
  for (const { key, value } of all.flatMap(({ variables }) => variables))
    if (value.text !== null && isCredential(key, value)) credentials.add(value.text)
  return all.flatMap(({ service, node: given, variables }) => {
    const node = judgeService(report, credentials, given)
    if (node === undefined) return []
    const name = names.claim(service)
    if (name !== service) reportName(report, node, name)
    return [{ variables, draft: { service, name, node, fields: {}, mounts: [], dependencies: [] } }]
  })
}

function reportName(report: Report, node: Written, name: string): void {
  const why = 'Names have lowercase letters, digits and hyphens, begin with a letter, and are unique.'
  report.changed(node, `its name is ${name}`, why, `Use ${name} where other services name it as a host.`)
}

const ORDER = [
  ...[
    'image',
    'replicas',
    'nodeId',
    'command',
    'args',
    'environment',
    'secrets',
    'composedEnvironment',
    'volumes',
  ],
  ...[
    'healthCheck',
    'dependsOn',
    'resources',
    'limits',
    'placement',
    'update',
    'routes',
    'networks',
    'labels',
    'stopGracePeriod',
  ],
]

function documentOf({ name, fields }: Draft, { nodeId }: ImportOptions): JsonObject {
  const all: JsonObject = nodeId === undefined ? fields : { ...fields, nodeId }
  const ordered = ORDER.flatMap((field): [string, Json][] => {
    const value = all[field]
    return value === undefined ? [] : [[field, value]]
  })
  return { kind: 'Deployment', name, ...Object.fromEntries(ordered) }
}

const UNSET_NEXT = 'Set it before the import, or use --env-file.'

/** Reports variables without a value. Those of environment were reported with what became of them. */
function reportUnset(report: Report, { shown }: Pick<KnownCredentials, 'shown'>, node: Written): void {
  const [top, , member] = node.steps
  if (typeof top === 'string' && (top.startsWith('x-') || member === 'environment')) return
  if (node.kind === 'scalar')
    for (const name of node.unset)
      report.changed(
        node,
        `${shown(name)} is empty`,
        `The variable ${shown(name)} is not set, and Compose replaces it by nothing.`,
        UNSET_NEXT,
      )
  const inside = node.kind === 'list' ? node.items : node.kind === 'map' ? [...node.members.values()] : []
  for (const each of inside) reportUnset(report, { shown }, each)
}

interface WrittenDocument {
  readonly document: JsonObject
  /** The part of the Compose file that a removal is reported at. */
  readonly node: Written
}

/** The documents that the platform would accept. Parts that it would reject are removed and reported. */
function admitAll(report: Report, written: readonly WrittenDocument[]): JsonObject[] {
  return written.flatMap(({ document, node }): JsonObject[] => {
    const admitted = admitDocument(document)
    for (const { field, why } of admitted.removed)
      report.refused(
        node,
        `${String(document.kind)} ${String(document.name)}, ${field || 'as a whole'}: ${why}`,
      )
    return admitted.document === undefined ? [] : [admitted.document]
  })
}

const NODE_NOTE = 'With several nodes, --node NODE-ID keeps everything on one node, as Compose does.'
const NETWORKS_NOTE =
  'A network is on one node, with everything that joins it. With several nodes, use --node NODE-ID.'

function notesOf(
  documents: readonly JsonObject[],
  drafts: readonly Draft[],
  { nodeId }: ImportOptions,
): string[] {
  const registries = new Set(
    documents.flatMap(({ image }) =>
      typeof image === 'string' ? (parseImageReference(image)?.host ?? []) : [],
    ),
  )
  const hasNetworks = documents.some(({ kind }) => kind === 'Network')
  const restarted = drafts.filter(
    ({ node }) =>
      memberOf(node, 'restart') === undefined &&
      memberOf(memberOf(node, 'deploy'), 'restart_policy') === undefined,
  )
  return [
    ...(registries.size === 0
      ? []
      : [`The platform must allow ${[...registries].join(', ')}: holdfast registry list.`]),
    ...(restarted.length === 0
      ? []
      : [
          `Containers that exit are always started again, also those of ${restarted.map(({ name }) => name).join(', ')}, which have no restart policy.`,
        ]),
    ...(nodeId === undefined && documents.length > 1 ? [hasNetworks ? NETWORKS_NOTE : NODE_NOTE] : []),
  ]
}
