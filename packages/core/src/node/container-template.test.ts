import { describe, expect, test } from 'vitest'
import { aBody, aRecord, DIGEST } from '../admission/admission.fixture.ts'
import { canonicalTemplate, containerTemplate, neededCapabilities } from './container-template.ts'

const spec = aRecord()
const text = canonicalTemplate(spec, DIGEST)

test('pins the image by its digest, without its tag', () => {
  expect(containerTemplate(spec, DIGEST).image).toBe(`registry.example.com/shop/web@${DIGEST}`)
})

test.each([
  ['nginx:1.27', 'docker.io/library/nginx'],
  ['registry.example.com:5000/a/b:1', 'registry.example.com:5000/a/b'],
  ['registry.example.com:443/a/b:1', 'registry.example.com/a/b'],
])('%s is pulled as %s', (image, name) => {
  expect(containerTemplate({ ...spec, image }, DIGEST).image).toBe(`${name}@${DIGEST}`)
})

test.each([
  ['digest', spec, `sha256:${'b'.repeat(64)}`],
  ['command', { ...spec, command: ['/bin/other'] }, DIGEST],
  ['args', { ...spec, args: ['--other'] }, DIGEST],
  ['environment', { ...spec, environment: { OTHER: '1' } }, DIGEST],
  ['secretsVersion', { ...spec, secretsVersion: 1 }, DIGEST],
  ['limits', { ...spec, limits: { cpuMillis: 1 } }, DIGEST],
  ['labels', { ...spec, labels: { other: '1' } }, DIGEST],
  ['healthCheck', aRecord(aBody({ healthCheck: { type: 'exec', command: ['true'] } })), DIGEST],
])('a changed %s changes the template', (_field, changed, digest) => {
  expect(canonicalTemplate(changed, digest)).not.toBe(text)
})

test.each([
  ['replicas', { replicas: 7 }],
  ['placement', { placement: { antiAffinity: ['web'] } }],
  ['resources', { resources: { cpuMillis: 5, memoryBytes: 5 } }],
  ['stopGracePeriod', { stopGracePeriod: '99s' }],
  ['update', { update: { ...spec.update, parallelism: 9 } }],
])('a changed %s does not change the template', (_field, change) => {
  expect(canonicalTemplate({ ...spec, ...change }, DIGEST)).toBe(text)
})

test('each restart changes the template', () => {
  const texts = [
    text,
    ...[2, 3].map((restartRevision) => canonicalTemplate(spec, DIGEST, { restartRevision })),
  ]
  expect(new Set(texts).size).toBe(3)
})

describe('the mounts of a spec', () => {
  const volume = 'vol_01JCPZ0000000000000000000A'
  const mount = { volume, target: '/data', type: 'volume' as const, readOnly: false }
  const cache = { volume, target: '/cache', type: 'tmpfs' as const, readOnly: true }

  test('become the mounts of the template, a tmpfs with its size', () => {
    const mounted = { ...spec, volumes: [mount, cache] }
    expect(containerTemplate(mounted, DIGEST, {}, { [volume]: 4096 }).mounts).toEqual([
      mount,
      { ...cache, sizeBytes: 4096 },
    ])
    expect(neededCapabilities(mounted)).toContain('mounts')
  })

  test('change the hash, but the size of a tmpfs does not', () => {
    const mounted = canonicalTemplate({ ...spec, volumes: [mount] }, DIGEST)
    expect(mounted).not.toBe(text)
    expect(canonicalTemplate({ ...spec, volumes: [{ ...mount, readOnly: true }] }, DIGEST)).not.toBe(mounted)
    expect(mounted).not.toContain('mounts')
  })

  test('are absent without volumes, and leave the hash of the spec as it was', () => {
    expect(containerTemplate({ ...spec, volumes: [] }, DIGEST)).not.toHaveProperty('mounts')
    expect(canonicalTemplate({ ...spec, volumes: [] }, DIGEST)).toBe(text)
    expect(neededCapabilities(spec)).not.toContain('mounts')
  })
})
