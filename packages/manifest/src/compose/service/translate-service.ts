// Translates the members of one service. Each member has a handler or a reason to be refused.

import type { Translation } from '../draft.ts'
import { type Handler, visitMembers } from '../members.ts'
import { addOwnSecret, translateSecrets } from '../resources/secrets.ts'
import { booleanOf, durationOf, durationText } from '../source/scalars.ts'
import { memberOf, textOf, type Written } from '../source/written.ts'
import { translateCpus, translateMemory } from './amounts.ts'
import { translateCommand } from './command.ts'
import { readDependsOn, readLinks } from './dependencies.ts'
import { translateDeploy, translateReplicas } from './deploy.ts'
import { translateHealthCheck } from './health-check.ts'
import { translateLabels } from './labels.ts'
import { readMounts, readTmpfs } from './mounts.ts'
import { type RouteOptions, translatePorts } from './ports.ts'
import { REFUSED_IF_TRUE, REFUSED_MEMBERS } from './refused-members.ts'
import { translateRestart } from './restart.ts'
import { translateVariables, type VariableParts } from './variables.ts'

export interface ServiceParts extends VariableParts {
  readonly routes: RouteOptions
}

const BUILD = 'Holdfast builds no images; the image has to be in its registry.'
const BUILD_NEXT = 'Build and push the image.'
const EXPOSED = 'Containers reach every port of one another.'

export function translateService(translation: Translation, parts: ServiceParts): void {
  const { report, draft } = translation
  draft.fields.image = textOf(memberOf(draft.node, 'image')) ?? ''
  const done: Handler = () => {}
  const handlers: { readonly [key: string]: Handler } = {
    ...{ image: done, environment: done, env_file: done, secrets: done, networks: done, profiles: done },
    build: (node) => report.refused(node, BUILD, BUILD_NEXT),
    command: (node) => translateCommand(translation, 'args', node),
    entrypoint: (node) => translateCommand(translation, 'command', node),
    cpus: (node) => translateCpus(translation, 'limits', node),
    depends_on: (node) => readDependsOn(translation, node),
    deploy: (node) => translateDeploy(translation, node),
    expose: (node) => report.ignored(node, EXPOSED),
    healthcheck: (node) => translateHealthCheck(translation, node),
    labels: (node) => translateLabels(translation, node),
    links: (node) => readLinks(translation, node),
    mem_limit: (node) => translateMemory(translation, 'limits', node),
    mem_reservation: (node) => translateMemory(translation, 'resources', node),
    network_mode: (node) => refuseNetworkMode(translation, node),
    ports: (node) => translatePorts(translation, node, parts.routes),
    restart: (node) => translateRestart(translation, node),
    scale: (node) => translateReplicas(translation, node),
    stop_grace_period: (node) => translateGracePeriod(translation, node),
    tmpfs: (node) => readTmpfs(translation, node),
    volumes: (node) => readMounts(translation, node),
    ...refusedIfTrue(translation),
  }
  visitMembers(draft.node, { report, handlers, refusals: REFUSED_MEMBERS })
  putVariables(translation, parts)
}

/** Adds the references to secrets first, because variables may refer to their files. */
function putVariables(translation: Translation, parts: VariableParts): void {
  const { draft } = translation
  const own = translateSecrets(translation, memberOf(draft.node, 'secrets'), parts.secrets)
  translateVariables(translation, own, parts)
  const path = parts.secrets.ownPath(draft.name)
  if (path !== undefined)
    addOwnSecret(
      draft,
      path,
      parts.variables.map(({ key }) => key),
    )
}

function refusedIfTrue({ report }: Translation): { [key: string]: Handler } {
  return Object.fromEntries(
    Object.entries(REFUSED_IF_TRUE).map(([key, refusal]): [string, Handler] => [
      key,
      (node) => {
        if (booleanOf(textOf(node)) !== false) report.refused(node, ...refusal)
      },
    ]),
  )
}

const HOST_NETWORK = 'Containers do not use the network of the machine or of another container.'
const HOST_NETWORK_NEXT = 'Use routes for requests from outside, and names of deployments between containers.'

function refuseNetworkMode({ report }: Translation, node: Written): void {
  if (textOf(node) !== 'bridge') report.refused(node, HOST_NETWORK, HOST_NETWORK_NEXT)
}

function translateGracePeriod({ report, draft }: Translation, node: Written) {
  const ms = durationOf(textOf(node))
  if (ms === undefined) return report.refused(node, 'It is not a duration.')
  draft.fields.stopGracePeriod = durationText(ms)
}
