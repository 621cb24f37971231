import { expect, test } from 'vitest'
import { checkText } from './check-text.ts'

const lines = (text: string, deployment?: string) =>
  checkText(text, deployment).faults.map(({ line, field, what }) => `${line} ${field ?? what}`)

const SOUND = 'kind: Deployment\nname: shop\nimage: registry.example.com/shop:1.0\nreplicas: 3\n'

test('a sound manifest has no fault', () => expect(checkText(SOUND).faults).toEqual([]))

test('every fault is listed at its line, all at once', () => {
  const text =
    'kind: Deployment\nname: Shop!\nimage: registry.example.com/shop:1.0\nreplicas: "3"\nreplcas: 1\n'
  expect(lines(text)).toEqual(['2 name', '4 replicas', '5 replcas'])
})

test('the first sentence of a fault is what is wrong, not the rule', () => {
  const text = `kind: Deployment\nname: Shop!\nreplicas: "3"\nreplcas: 1\nenvironment:\n  DB_PASSWORD: correct-horse\n`
  expect(checkText(text).faults.map(({ field, what }) => `${field}: ${what}`)).toEqual([
    'image: This field is missing.',
    'name: Shop! is not accepted.',
    'replicas: "3" (a string) is not accepted.',
    'replcas: This field does not exist.',
    'environment.DB_PASSWORD: This value is not accepted.',
  ])
})

test('a fault has what is expected, a hint, a reason and a link', () => {
  const [fault] = checkText(`${SOUND}replcas: 1\n`).faults
  expect(fault).toMatchObject({ hint: 'did you mean replicas?' })
  expect(fault?.expected).not.toBe('')
  expect(fault?.why).not.toBe('')
  expect(fault?.doc).toContain('field_unknown')
})

test('a broken text is a fault at its line', () => {
  expect(checkText('kind: Deployment\nname: [shop\n').faults.map(({ line }) => line)).toEqual([3])
})

test.each([
  ['an empty text', '', 1],
  ['two documents', `${SOUND}---\n${SOUND}`, 6],
  ['a volume', 'kind: Volume\nname: data\nsize: 1Gi\n', 1],
  ['a file of another system', 'apiVersion: apps/v1\nkind: Deployment\n', 1],
])('%s is explained in one sentence', (_what, text, line) => {
  expect(checkText(text).faults.map((fault) => fault.line)).toEqual([line])
})

test('values of a secret are a fault, and their text is not repeated', () => {
  const canary = 'correct-horse-battery'
  const text = `${SOUND}secrets:\n  - name: DB\n    vault_path: deployments/shop\n    values:\n      password: ${canary}\n`
  const { faults } = checkText(text)
  expect(faults.map(({ line }) => line)).toEqual([8])
  expect(JSON.stringify(faults)).not.toContain(canary)
})

test('a credential in the environment is a fault before it is sent', () => {
  const { faults } = checkText(`${SOUND}environment:\n  DB_PASSWORD: correct-horse-battery\n`)
  expect(faults.map(({ line }) => line)).toEqual([6])
  expect(JSON.stringify(faults)).not.toContain('correct-horse')
})

test('an edit may leave fields out and may not change the name', () => {
  expect(lines('kind: Deployment\nname: shop\nreplicas: 2\n', 'shop')).toEqual([])
  expect(checkText(SOUND, 'orders').faults.map(({ line }) => line)).toEqual([2])
})
