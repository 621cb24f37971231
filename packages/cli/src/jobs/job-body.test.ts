import { expect, test } from 'vitest'
import { invocation, scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { jobBodyOf, nameFromImage } from './job-body.ts'

const IMAGE = 'registry.example.com/shop/web:1.4.2'
const bodyOf = (args: readonly string[], typed: { readonly [option: string]: string | boolean } = {}) => {
  const found = jobBodyOf(invocation(scriptTerminal(), args, typed))
  return found.ok ? found.body : found.why
}

test('sends the words after -- as the command', () => {
  expect(bodyOf([IMAGE, './migrate', '--all'])).toEqual({
    kind: 'Job',
    name: 'web',
    image: IMAGE,
    command: ['./migrate', '--all'],
  })
})

test('sends the words as arguments of the entrypoint if that is kept', () => {
  expect(bodyOf([IMAGE, '--all'], { 'keep-entrypoint': true })).toEqual({
    kind: 'Job',
    name: 'web',
    image: IMAGE,
    args: ['--all'],
  })
})

test('sends every option', () => {
  const typed = {
    name: 'nightly',
    env: 'LEVEL=a=b',
    secret: 'DB=resources/orders-db',
    mount: 'data:/var/lib/data:ro',
    network: 'backend',
    node: 'node/n1',
    cpu: '500m',
    memory: '256Mi',
    'memory-limit': '1Gi',
    'job-timeout': '15m',
    retries: '3',
    'on-node-loss': 'retry',
  }
  expect(bodyOf([IMAGE], typed)).toEqual({
    kind: 'Job',
    name: 'nightly',
    image: IMAGE,
    environment: { LEVEL: 'a=b' },
    secrets: [{ name: 'DB', vault_path: 'resources/orders-db' }],
    volumes: [{ volume: 'data', target: '/var/lib/data', type: 'volume', readOnly: true }],
    networks: ['backend'],
    nodeId: 'n1',
    resources: { cpuMillis: 500, memoryBytes: 2 ** 28 },
    limits: { memoryBytes: 2 ** 30 },
    timeout: '15m',
    retries: 3,
    onNodeLoss: 'retry',
  })
})

test.each([
  ['env', 'hunter2', '--env 1 is not KEY=VALUE'],
  ['secret', 'resources/orders-db', /^a secret needs a name and a path/],
  ['mount', '/var/lib/data', /^a mount needs a volume and a path/],
  ['mount', 'data:relative', /^a mount needs a volume and a path/],
  ['memory', '256', /^resources\.memory: .*unit is missing/],
])('rejects --%s %s before anything is sent', (option, value, why) => {
  expect(bodyOf([IMAGE], { [option]: value })).toMatch(why)
})

test.each([
  ['registry.example.com:5000/team/db_migrate:1.2', 'db-migrate'],
  ['alpine:3.20@sha256:0000', 'alpine'],
  ['library/7zip:1', 'zip'],
  ['x/__:1', 'job'],
  [`x/${'a'.repeat(80)}:1`, 'a'.repeat(63)],
])('names a job of %s %s', (image, name) => {
  expect(nameFromImage(image)).toBe(name)
})
