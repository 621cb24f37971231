// The server's image is the same bytes for the same parts, runs as a user without rights and contains no program but Node.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { makeTempFolder } from '@holdfast/testkit'
import { afterAll, describe, expect, test } from 'vitest'
import { licenceFaults } from '../../../scripts/package/shipped/check-licences.ts'
import {
  commonLicenceNames,
  isCertificate,
  isShipped,
  readBasePackages,
} from '../../../scripts/package/image/base-packages.ts'
import { imageArchive } from '../../../scripts/package/image/oci-archive.ts'
import { planImage } from '../../../scripts/package/image/plan-image.ts'
import { type TarEntry, tarOf } from '../../../scripts/package/image/tar.ts'
import { REVIEWED } from '../../../scripts/package/shipped/reviewed-licences.ts'
import { purlOf } from '../../../scripts/package/shipped/shipped.ts'

const ROOT = join(import.meta.dirname, '../../..')
const DATE = 1_767_225_600
const folder = makeTempFolder('image')
afterAll(() => folder.remove())

const file = (path: string, text: string, mode = 0o644): TarEntry => ({
  kind: 'file',
  path,
  mode,
  content: Buffer.from(text),
})
const LINK: TarEntry = { kind: 'link', path: 'usr/lib/libx.so.1', target: 'libx.so.1.2' }

/** The list of an archive as the tar of this machine prints it. */
function unpacked(archive: Buffer): string[] {
  const path = join(folder.path, 'archive.tar')
  writeFileSync(path, archive)
  const list = execFileSync('tar', ['--list', '--verbose', '--utc', '--file', path], { encoding: 'utf8' })
  return list
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' '))
}

describe('a tar archive', () => {
  const LONG = `usr/${'folder/'.repeat(20)}file`

  test('has each folder, one owner and one date', () =>
    expect(unpacked(tarOf([LINK, file('etc/a', 'abc')], DATE))).toEqual([
      'drwxr-xr-x 0/0 0 2026-01-01 00:00 etc/',
      '-rw-r--r-- 0/0 3 2026-01-01 00:00 etc/a',
      'drwxr-xr-x 0/0 0 2026-01-01 00:00 usr/',
      'drwxr-xr-x 0/0 0 2026-01-01 00:00 usr/lib/',
      'lrwxrwxrwx 0/0 0 2026-01-01 00:00 usr/lib/libx.so.1 -> libx.so.1.2',
    ]))

  test('is the same bytes in whichever order its entries are found', () => {
    const entries = [file('b', '1'), LINK, file('a/c', '2')]
    expect(tarOf(entries.toReversed(), DATE).equals(tarOf(entries, DATE))).toBe(true)
  })

  test('has long paths and refuses those that do not fit', () => {
    expect(unpacked(tarOf([file(LONG, '')], DATE)).at(-1)).toContain(LONG)
    expect(() => tarOf([file('x'.repeat(101), '')], DATE)).toThrow('too long for a tar archive')
  })

  test('keeps the mode of a folder that is listed', () => {
    const entries: TarEntry[] = [file('tmp/a', ''), { kind: 'folder', path: 'tmp', mode: 0o1777 }]
    expect(unpacked(tarOf(entries, DATE))[0]).toMatch(/^drwxrwxrwt /)
  })
})

const PARTS = {
  base: [file('lib/x86_64-linux-gnu/libc.so.6', 'libc')],
  node: Buffer.from('node'),
  bundle: new Map([['server/dist/holdfast-server.mjs', Buffer.from('bundle')]]),
  notice: 'notice\n',
}

function builtImage() {
  const { config, layers } = planImage(PARTS)
  const tars = layers.map((entries) => tarOf(entries, DATE))
  const common = { name: 'holdfast-server:1.2.3', date: DATE, architecture: 'amd64' }
  return imageArchive({ ...common, config, layers: tars })
}

/** Files of an archive by their path. */
function filesIn(archive: Buffer): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>()
  for (let at = 0; archive[at] !== 0; ) {
    const path = archive.toString('latin1', at, at + 100).replace(/\0.*$/s, '')
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8)
    files.set(path, archive.subarray(at + 512, at + 512 + size))
    at += 512 + Math.ceil(size / 512) * 512
  }
  return files
}

describe('the image', () => {
  const files = filesIn(builtImage().archive)
  const json = (path: string) => JSON.parse(files.get(path)?.toString() ?? 'null')
  const digest = (content: Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`

  test('is the same bytes for the same parts', () => {
    const [one, two] = [builtImage(), builtImage()]
    expect(one.archive.equals(two.archive)).toBe(true)
    expect(json('index.json').manifests[0].digest).toBe(one.digest)
  })

  test('each blob has the name of its hash', () => {
    const blobs = [...files].filter(([path]) => path.startsWith('blobs/sha256/') && !path.endsWith('/'))
    expect(blobs).toHaveLength(4)
    for (const [path, content] of blobs) expect(digest(content)).toBe(path.slice(6).replace('/', ':'))
  })

  test('Docker without knowledge of the OCI layout finds the same blobs', () => {
    const [{ Config, Layers, RepoTags }] = json('manifest.json')
    expect(RepoTags).toEqual(['holdfast-server:1.2.3'])
    const { rootfs, config } = json(Config)
    const tars = Layers.map((path: string) => gunzipSync(files.get(path) ?? Buffer.alloc(0)))
    expect(rootfs.diff_ids).toEqual(tars.map(digest))
    expect(config).toMatchObject({ User: '65532:65532', Cmd: ['serve'] })
  })

  test('starts Node with a bundle that is in the upper layer', () => {
    const { config, layers } = planImage(PARTS)
    const paths = layers.map((entries) => entries.map(({ path }) => `/${path}`))
    const { Entrypoint } = config as { readonly Entrypoint: readonly string[] }
    const [node, option, bundle] = Entrypoint
    expect(paths[0]).toContain(node)
    expect(option).toBe('--disable-warning=DEP0123')
    expect(paths[1]).toContain(bundle)
  })
})

describe('the Debian packages', () => {
  const list = readBasePackages(readFileSync(join(ROOT, 'engines/base/packages.txt'), 'utf8'))

  test('are pinned by version and hash, and their licences were read', () => {
    const names = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1', 'ca-certificates', 'tzdata']
    expect(list.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
    const shipped = list.map(({ name, version, sha256 }) => {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/)
      const licence = REVIEWED.get(`${name}@${version}`)
      return { ecosystem: 'deb' as const, name, version, licence, texts: [] }
    })
    expect(licenceFaults(shipped)).toEqual([])
    expect(shipped.map(purlOf)[1]).toBe('pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?distro=bookworm')
  })

  test('ship libraries, time zones and licences, and no program', () => {
    const paths = {
      'lib/x86_64-linux-gnu/libc.so.6': true,
      'lib/x86_64-linux-gnu/ld-linux-x86-64.so.2': true,
      'lib64/ld-linux-x86-64.so.2': true,
      'usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30': true,
      'usr/share/zoneinfo/Europe/Vienna': true,
      'usr/share/doc/libc6/copyright': true,
      'usr/share/doc/libgcc-s1': true,
      'etc/os-release': true,
      'usr/share/doc/libc6/changelog.gz': false,
      'usr/lib/x86_64-linux-gnu/gconv/UTF-32.so': false,
      'usr/sbin/update-ca-certificates': false,
      'etc/skel/.profile': false,
    }
    expect(Object.fromEntries(Object.keys(paths).map((path) => [path, isShipped(path)]))).toEqual(paths)
    expect(isCertificate('usr/share/ca-certificates/mozilla/ISRG_Root_X1.crt')).toBe(true)
  })

  test('the notice contains the licences that copyright files refer to', () =>
    expect(
      commonLicenceNames("see `/usr/share/common-licenses/LGPL-2.1'. Or /usr/share/common-licenses/GPL-2."),
    ).toEqual(['GPL-2', 'LGPL-2.1']))
})
