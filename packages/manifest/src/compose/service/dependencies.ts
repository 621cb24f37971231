// Reads `depends_on` and `links`: the services that must be up first. The names are resolved after all services are known.

import type { RequestedDependency, Translation } from '../draft.ts'
import { itemsOf, visitMembers } from '../members.ts'
import { booleanOf } from '../source/scalars.ts'
import { isEmpty, memberOf, textOf, type Written } from '../source/written.ts'

const COMPLETED = 'A deployment does not wait for the end of a program.'
const COMPLETED_NEXT = 'Run that program before you apply this deployment.'

export function readDependsOn(translation: Translation, node: Written): void {
  const { report } = translation
  if (isEmpty(node)) return
  if (node.kind !== 'map') {
    for (const item of itemsOf(report, node)) {
      const service = textOf(item)
      if (service === undefined) report.refused(item, 'It is not the name of a service.')
      else add(translation, { node: item, service, condition: 'started' })
    }
    return
  }
  for (const [service, member] of node.members) readCondition(translation, service, member)
}

function readCondition(translation: Translation, service: string, member: Written) {
  const { report } = translation
  if (member.kind !== 'map') return report.refused(member, 'It is not a map with a condition.')
  const condition = textOf(memberOf(member, 'condition')) ?? 'service_started'
  if (condition === 'service_completed_successfully') return report.refused(member, COMPLETED, COMPLETED_NEXT)
  if (condition !== 'service_started' && condition !== 'service_healthy')
    return report.refused(member, 'Its condition is unknown.')
  visitMembers(member, {
    report,
    handlers: {
      condition: () => {},
      restart: (each) =>
        onlyDefault(translation, each, false, 'A deployment is not restarted with another one.'),
      required: (each) => onlyDefault(translation, each, true, 'Every dependency is required.'),
    },
  })
  add(translation, {
    node: member,
    service,
    condition: condition === 'service_healthy' ? 'healthy' : 'started',
  })
}

function onlyDefault({ report }: Translation, node: Written, usual: boolean, why: string): void {
  if (booleanOf(textOf(node)) !== usual) report.refused(node, why)
}

export function readLinks(translation: Translation, node: Written): void {
  const { report } = translation
  for (const item of itemsOf(report, node)) {
    const [service = '', alias] = (textOf(item) ?? '').split(':')
    if (service === '') report.refused(item, 'It is not the name of a service.')
    else add(translation, { node: item, service, condition: 'started' })
    if (alias !== undefined && alias !== service)
      report.changed(
        item,
        'the alias is left out',
        'Containers have the name of their deployment only.',
        'Use that name as the host.',
      )
  }
}

function add({ draft }: Translation, dependency: RequestedDependency): void {
  const known = draft.dependencies.some(({ service }) => service === dependency.service)
  if (!known) draft.dependencies.push(dependency)
}
