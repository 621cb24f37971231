// Every command that the dashboard shows is a command line that the CLI accepts.

import { equivalents } from '@holdfast/dashboard/texts/commands'
import { texts } from '@holdfast/dashboard/texts/en'
import { expect, test } from 'vitest'
import { chosenCommand } from './chosen-command.ts'

const SHOWN: readonly (readonly [string, string])[] = [
  [equivalents.overview().command, 'status'],
  [equivalents.deployments({ q: 's', phase: 'Running' }).command, 'get'],
  [equivalents.why('report').command, 'why'],
  [equivalents.why('report', '2026-11-18T14:05:00.000Z').command, 'why'],
  [equivalents.replicas('report').command, 'ps'],
  [equivalents.logs('report', {}).command, 'logs'],
  [equivalents.logs('report', { replica: 2, previous: true }).command, 'logs'],
  [equivalents.terminal('report').command, 'exec'],
  [equivalents.terminal('report', 2).command, 'exec'],
  [equivalents.history('report').command, 'rollout history'],
  [equivalents.rollBack('report', 3).command, 'rollout undo'],
  [equivalents.events('report').command, 'events'],
  [equivalents.events().command, 'events'],
  [equivalents.nodes().command, 'get'],
  [equivalents.node('acme-1', 'node_1').command, 'describe'],
  [equivalents.drain('acme-1', 'node_1').command, 'node drain'],
  [equivalents.restart('report').command, 'rollout restart'],
  [equivalents.scale('report', 3).command, 'scale'],
  [equivalents.remove('report').command, 'delete'],
  [equivalents.promote('report', true).command, 'rollout canary promote'],
  [equivalents.abort('report').command, 'rollout canary abort'],
  [equivalents.apply('report').command, 'apply'],
  [equivalents.apply().command, 'apply'],
  [equivalents.scaling('report').command, 'scaling show'],
  [texts.signIn.helpCommand, 'token create'],
  ...texts.overview.nodeCommands.map((command) => [command, 'node join-token'] as const),
  ...texts.overview.firstCommands.map((command) => [command, command.split(' ')[1] ?? ''] as const),
]

test.each(SHOWN)('%s', async (typed, name) => {
  expect(await chosenCommand(typed)).toBe(name)
})

test('every kind of shown command is tried above', () => {
  const tried = SHOWN.map(([command]) => command.split(' ').slice(0, 2).join(' '))
  const shown = [
    equivalents.overview(),
    equivalents.deployments({}),
    equivalents.why('x'),
    equivalents.replicas('x'),
    equivalents.logs('x', {}),
    equivalents.terminal('x'),
    equivalents.history('x'),
    equivalents.rollBack('x', 1),
    equivalents.events('x'),
    equivalents.nodes(),
    equivalents.node('x', 'node_1'),
    equivalents.drain('x', 'node_1'),
    equivalents.restart('x'),
    equivalents.scale('x', 1),
    equivalents.remove('x'),
    equivalents.promote('x', false),
    equivalents.abort('x'),
    equivalents.apply('x'),
    equivalents.scaling('x'),
  ]
  expect(shown).toHaveLength(Object.keys(equivalents).length)
  for (const { command } of shown) expect(tried).toContain(command.split(' ').slice(0, 2).join(' '))
})
