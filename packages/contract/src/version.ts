// The version of Holdfast, which servers and agents report. All packages have the same version.

export const VERSION = '0.1.0'
