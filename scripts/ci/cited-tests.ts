// Did every test that a promise cites pass in a CI run? A test that rotates, is skipped or was renamed holds no promise.

import type { Report } from './reports.ts'

export interface Citation {
  readonly file: string
  /** Title of a test or of a suite, as it stands in the source: `%s` and `${...}` stand for any text. */
  readonly title: string
}

export const readCitations = (document: string): Citation[] =>
  [...document.matchAll(/`([\w./-]+\.test\.ts)::([^`]+)`/g)].map(([, file = '', title = '']) => ({
    file,
    title,
  }))

/** The citations of which no test passed. */
export function notPassed(
  citations: readonly Citation[],
  reports: readonly Report[],
  pathOf: (file: string) => string,
): Citation[] {
  const passed = passedTitles(reports, pathOf)
  return citations.filter(({ file, title }) => {
    const wanted = patternOf(title)
    return !(passed.get(file) ?? []).some((each) => wanted.test(each))
  })
}

/** For each file, the titles of the tests that passed and of the suites around them. */
function passedTitles(
  reports: readonly Report[],
  pathOf: (file: string) => string,
): ReadonlyMap<string, readonly string[]> {
  const titles = new Map<string, string[]>()
  for (const { name, assertionResults } of reports.flatMap((report) => report.testResults)) {
    const passed = assertionResults.filter(({ status }) => status === 'passed')
    const found = passed.flatMap(({ ancestorTitles, title }) => [...ancestorTitles, title])
    titles.set(pathOf(name), [...(titles.get(pathOf(name)) ?? []), ...found])
  }
  return titles
}

function patternOf(title: string): RegExp {
  const parts = title.split(/%[sdifjoO#$]|\$\{[^}]*\}|\$[a-z]\w*/)
  return new RegExp(`^${parts.map(escaped).join('[^]*')}$`)
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
