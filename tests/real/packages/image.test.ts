// The server's image is loaded by both lines of Docker and runs there as its own user, without a shell.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder, sharedDocker } from '@holdfast/testkit'
import { runCommandAsync } from '@holdfast/testkit/run-command'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle } from '../../../scripts/package/bundles/bundle.ts'
import { INSTALLED_NODE } from '../../../scripts/package/gather-built.ts'
import { unpackBase } from '../../../scripts/package/image/unpack-base.ts'
import { writeImage } from '../../../scripts/package/image/write-image.ts'
import { releaseFacts } from '../../../scripts/package/release-facts.ts'

/** 130 MB are compressed and unpacked while other tests use the processors. */
const DEADLINE_MS = 300_000
const PROGRAM = 'server/dist/holdfast-server.mjs'
const folder = makeTempFolder('server-image')
const at = (...parts: string[]): string => join(folder.path, ...parts)
const { version, arch, ...release } = releaseFacts()
const image = `holdfast-server:${version}`
afterAll(() => folder.remove())

beforeAll(async () => {
  await bundle({ entry: 'packages/server/src/main.ts', outfile: at(PROGRAM) })
  const sources = {
    base: unpackBase(at('base')).entries,
    node: INSTALLED_NODE,
    bundle: new Map([[PROGRAM, at(PROGRAM)]]),
    notice: 'The test has no notice.\n',
  }
  writeImage(sources, { version, arch, ...release }, folder.path)
}, DEADLINE_MS)

describe.each(['old', 'new'] as const)('Docker, %s line', (line) => {
  let socket = ''
  const docker = (...words: string[]): Promise<string> =>
    runCommandAsync('docker', ['--host', `unix://${socket}`, ...words], { timeoutMs: DEADLINE_MS })
  const run = (...words: string[]): Promise<string> => docker('run', '--rm', '--network', 'none', ...words)

  beforeAll(async () => {
    socket = (await sharedDocker(line)).docker.socketPath
    await docker('load', '--input', at(`holdfast-server-image_${version}_${arch}.tar`))
  }, DEADLINE_MS)

  test('holdfast-server is the program of the image', async () =>
    expect(await run(image, 'help')).toMatch(/^holdfast-server: the control plane/))

  test('check-config reads a mounted file and names its faults', async () => {
    writeFileSync(at('server.yaml'), 'publicUrl: 17\n')
    const file = '/etc/holdfast/server.yaml'
    const words = ['--volume', `${at('server.yaml')}:${file}:ro`, image, 'check-config', '--config', file]
    await expect(run(...words)).rejects.toThrow('publicUrl')
  })

  test('it runs as its own user, finds the authorities of Debian and has no shell', async () => {
    const node = ['--entrypoint', '/usr/lib/holdfast-server/node', image]
    const facts = `[process.getuid(), tls.getCACertificates('system').length > 100, fs.readdirSync('/')]`
    const [user, hasAuthorities, top] = JSON.parse(await run(...node, '--print', `JSON.stringify(${facts})`))
    expect([user, hasAuthorities]).toEqual([65532, true])
    expect(top).not.toContain('bin')
    await expect(run('--entrypoint', '/bin/sh', image)).rejects.toThrow('no such file')
  })
})
