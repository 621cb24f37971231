// Translates `deploy`: replicas, updates and placement.

import { isJsonObject, type JsonObject } from '@holdfast/contract'
import { isLabelKey, isLabelValue } from '@holdfast/core/admission'
import type { Translation } from '../draft.ts'
import { itemsOf, mapOf, visitMembers } from '../members.ts'
import { wholeOf } from '../source/scalars.ts'
import { memberOf, textOf, type Written } from '../source/written.ts'
import { translateResources } from './amounts.ts'
import { translateRestart } from './restart.ts'

const GLOBAL_NEXT =
  'Set replicas to the number of nodes, and list the deployment itself in placement.antiAffinity.'

export function translateDeploy(translation: Translation, node: Written): void {
  const { report } = translation
  const map = mapOf(report, node)
  if (map === undefined) return
  visitMembers(map, {
    report,
    handlers: {
      mode: (member) => {
        if (textOf(member) !== 'replicated')
          report.refused(member, 'A deployment has a number of replicas.', GLOBAL_NEXT)
      },
      replicas: (member) => translateReplicas(translation, member),
      resources: (member) => translateResources(translation, member),
      restart_policy: (member) => translatePolicy(translation, member),
      update_config: (member) => translateUpdate(translation, member),
      placement: (member) => translatePlacement(translation, member),
    },
    refusals: {
      endpoint_mode: ['The name of a deployment resolves to the addresses of its containers.'],
      labels: [
        'They are labels of a Swarm service, not of its containers.',
        'Move them to labels of the service.',
      ],
      rollback_config: ['A rollback uses the settings of the update.'],
    },
  })
}

export function translateReplicas({ report, draft }: Translation, node: Written) {
  const count = wholeOf(textOf(node))
  if (count === undefined) return report.refused(node, 'It is not a whole number.')
  const { replicas } = draft.fields
  if (replicas !== undefined && replicas !== count)
    return report.refused(node, 'Another member of the service sets another number of replicas.')
  draft.fields.replicas = count
  draft.replicasAt = node
}

const NO_TIMES = ['A container that exits is started again with a growing delay.'] as const

function translatePolicy(translation: Translation, node: Written): void {
  const { report } = translation
  const map = mapOf(report, node)
  if (map === undefined) return
  visitMembers(map, {
    report,
    handlers: { condition: (member) => translateRestart(translation, member) },
    refusals: { delay: NO_TIMES, max_attempts: NO_TIMES, window: NO_TIMES },
  })
}

function translateUpdate({ report, draft }: Translation, node: Written): void {
  const map = mapOf(report, node)
  if (map === undefined) return
  const update: JsonObject = {}
  const oneOf = (field: string, accepted: readonly string[], why: string) => (member: Written) => {
    const text = textOf(member) ?? ''
    if (accepted.includes(text)) update[field] = text
    else report.refused(member, why)
  }
  visitMembers(map, {
    report,
    handlers: {
      order: oneOf('order', ['start-first', 'stop-first'], 'The order is start-first or stop-first.'),
      failure_action: oneOf(
        'failureAction',
        ['rollback', 'pause'],
        'A failed update is rolled back or paused.',
      ),
      parallelism(member) {
        const count = wholeOf(textOf(member))
        if (count === undefined || count < 1)
          report.refused(member, 'An update replaces 1 or more replicas at once.')
        else update.parallelism = count
      },
    },
    refusals: {
      delay: ['The next replica is replaced when the one before is ready.'],
      monitor: ['The platform decides how long an update is watched.'],
      max_failure_ratio: ['One failed replica fails the update.'],
    },
  })
  if (Object.keys(update).length > 0) draft.fields.update = update
}

function translatePlacement(translation: Translation, node: Written): void {
  const { report, draft } = translation
  const map = mapOf(report, node)
  if (map === undefined) return
  visitMembers(map, {
    report,
    handlers: {
      constraints: (member) => translateConstraints(translation, member),
      preferences: (member) => translatePreferences(translation, member),
      max_replicas_per_node(member) {
        if (textOf(member) === '1') addPlacement(translation, { antiAffinity: [draft.name] })
        else report.refused(member, 'A node has any number of replicas, or one of them by antiAffinity.')
      },
    },
  })
}

const CONSTRAINT = /^node\.labels\.(\S+?)\s*(==|!=)\s*(\S.*)$/

function translateConstraints(translation: Translation, node: Written): void {
  const { report } = translation
  const constraints = itemsOf(report, node).flatMap((item): JsonObject[] => {
    const [, label = '', operator, value = ''] = CONSTRAINT.exec(textOf(item) ?? '') ?? []
    if (isLabelKey(label) && isLabelValue(value) && !translation.credentials.isIn(`${label} ${value}`))
      return [{ label, operator: operator === '==' ? 'in' : 'notIn', values: [value.trim()] }]
    report.refused(item, 'Only labels of nodes can be compared, as in node.labels.disk == ssd.')
    return []
  })
  if (constraints.length > 0) addPlacement(translation, { constraints })
}

function translatePreferences(translation: Translation, node: Written): void {
  const { report } = translation
  for (const [at, item] of itemsOf(report, node).entries()) {
    const label = /^node\.labels\.(\S+)$/.exec(textOf(memberOf(item, 'spread')) ?? '')?.[1]
    if (label === undefined || !isLabelKey(label) || translation.credentials.isIn(label))
      report.refused(item, 'Replicas are spread over a label of nodes.')
    else if (at > 0) report.refused(item, 'Replicas are spread over one label.')
    else addPlacement(translation, { spread: label })
  }
}

function addPlacement({ draft: { fields } }: Translation, more: JsonObject): void {
  fields.placement = { ...(isJsonObject(fields.placement) ? fields.placement : {}), ...more }
}
