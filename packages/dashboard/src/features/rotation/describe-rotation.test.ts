import type { CredentialRotation } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { actText, movesOf, orderText, yourPart } from './describe-rotation.ts'

const consumer = (deployment: string, replicas: number, pinned = 1) => ({
  deployment,
  pinned,
  running: replicas === 0 ? [] : [{ version: pinned, replicas, since: '' }],
  proved: false,
})

const credential = (rest: Partial<CredentialRotation> = {}): CredentialRotation => ({
  secret: 'DB',
  vault_path: 'resources/orders-db',
  phase: 'overlap',
  since: null,
  next: ['cutover', 'abort'],
  versions: { old: 1, new: 2 },
  consumers: [consumer('mail', 1), consumer('orders', 2)],
  blockedBy: [],
  ...rest,
})

test('the button of the cutover names what is recreated, the named deployment first', () => {
  expect(actText('cutover', credential(), 'orders')).toBe('Cut over: recreate orders 2, then mail 1')
  expect(actText('abort', credential(), 'orders')).toBe('Abort: back to v1')
  expect(actText('retire', credential(), 'orders')).toBe('Retire: destroy v1')
  expect(actText('unheard-of', credential(), 'orders')).toBeUndefined()
})

test('the order of a cutover begins with the deployment of the page', () => {
  expect(orderText(credential(), 'orders')).toMatch(/^In this order: orders, mail\./)
  expect(orderText(credential(), 'mail')).toMatch(/^In this order: mail, orders\./)
  expect(orderText(credential({ consumers: [consumer('mail', 1)] }), 'mail')).toBeUndefined()
})

test('a cutover recreates neither canaries nor jobs nor what has moved', () => {
  const consumers = [
    consumer('orders', 2),
    { ...consumer('orders', 1), canary: true },
    consumer('job/j1', 1),
    consumer('mail', 1, 2),
    consumer('idle', 0),
  ]
  expect(movesOf(credential({ consumers }), 'orders')).toEqual([{ name: 'orders', replicas: 2 }])
})

test('the part of the person changes with the phase', () => {
  expect(yourPart(credential({ phase: 'stage' }))[0]).toContain('accept v2 in addition to v1')
  expect(yourPart(credential())).toEqual([
    'Before the cutover the target must accept v2 beside v1.',
    'Holdfast cannot see that.',
    'A container that starts now gets v2 as _NEXT, so restart a deployment that tells the target which values to accept.',
  ])
  expect(yourPart(credential({ phase: 'cutover', next: ['retire', 'abort'] }))[1]).toContain(
    'stop accepting v1',
  )
  expect(yourPart(credential({ phase: 'cutover', next: [] }))).toEqual([])
})
