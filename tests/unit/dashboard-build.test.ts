// The dashboard is built, its first load stays below its limit, and nothing in it needs a weaker content security policy.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildDashboard } from '../../scripts/dashboard/build.ts'
import { FIRST_LOAD_LIMIT, filesOfFirstLoad, measureFirstLoad } from '../../scripts/dashboard/first-load.ts'

describe('the built dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-dashboard-'))
  beforeAll(() => buildDashboard(folder), 120_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is read within the limit of the first load', () => {
    const files = measureFirstLoad(folder)
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
    console.log(`first load: ${total} bytes in ${files.length} files, at most ${FIRST_LOAD_LIMIT}`)
    expect(total).toBeLessThanOrEqual(FIRST_LOAD_LIMIT)
  })

  test('has no inline script or style', () => {
    const page = readFileSync(join(folder, 'index.html'), 'utf8')
    expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)|javascript:|data:/)
    expect(page).toMatch(/<script type="module"[^>]* src="\/ui\/assets\/[\w-]+\.js"/)
  })

  test('has both compressed variants of every script and style sheet', () => {
    const files = readdirSync(join(folder, 'assets'))
    const sources = files.filter((file) => /\.(?:js|css)$/.test(file))
    expect(sources.length).toBeGreaterThan(2)
    for (const file of sources.filter((name) => readFileSync(join(folder, 'assets', name)).length > 1_000))
      expect(files).toEqual(expect.arrayContaining([`${file}.br`, `${file}.gz`]))
  })
})

test('the first load has the static imports of the page, and no lazy chunk', () => {
  const manifest = {
    'index.html': { file: 'a.js', imports: ['_shared.js'], css: ['a.css'] },
    '_shared.js': { file: 'shared.js', imports: ['_libraries.js'], css: ['shared.css'] },
    '_libraries.js': { file: 'libraries.js' },
    'src/features/editor/editor-page.tsx': { file: 'c.js' },
  }
  expect(filesOfFirstLoad(manifest)).toEqual(['a.js', 'a.css', 'shared.js', 'shared.css', 'libraries.js'])
})
