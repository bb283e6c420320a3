// Makes ranges.json: what npm's own code answers for each range and version. Run it
// where that package is installed: `npm install semver@7.7.3 && node ranges.mjs > ranges.json`.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(join(process.cwd(), 'x.js'))
const semver = require('semver')

const numbers = ['0.0.0', '0.0.3', '0.0.4', '0.1.0', '0.1.1', '0.2.0', '0.2.3', '1.0.0', '1.2.0', '1.2.3', '1.2.4', '1.3.0', '2.0.0', '2.3.4', '22.18.9', '22.19.0', '23.0.0', '24.0.0', '25.1.0']
const versions = numbers.flatMap(v => [v, `${v}-0`, `${v}-alpha`, `${v}-rc.7`, `${v}-rc.8`, `${v}-rc.10`, `${v}-rc.8.1`]).concat('0.1.0-rc.8+build', '1.2.3+b', '1.2.3--', '1.2.3-A', '1.2.3-rc')

const partials = ['*', 'x', '0', '0.x', '0.0', '0.0.3', '0.1.0-rc.8', '0.2.3', '0.2', '1', '1.2', '1.2.x', '1.2.3', '1.2.3-alpha', '1.2.3-rc.8+b', '1.x.3', 'v1.2.3', '0.0.0', '0.0.0-0']
const operators = ['', '=', '<', '<=', '>', '>=', '~', '~>', '^']
const ranges = [
  ...operators.flatMap(op => partials.map(p => op + p)),
  ...['1.2', '1.2.3-rc.8', '0'].flatMap(a => ['2', '2.3', '2.3.4', '2.3.4-rc.8', '*'].map(b => `${a} - ${b}`)),
  '', ' ', ' 1.2.3 ', '>= 1.2.3', '~ 1.2', '^ 0.2.3', '> 1.2 < 2', '>=1.2.3 <2.0.0', '>1.2.3-rc.8 <1.3.0-rc.8', '>=0.1.0-rc.8 <0.1.0', '>=0.1.1-rc.2 <0.2.0',
  '^22.19.0 || >=24.0.0', '^22.19.0||>=24.0.0', '1 || 0.2', '||', '1.2.3 ||', '|| <0.1', '1.2.3 1.2.4', '<0.0.0', '<0.0.0-0', '>=1.2.3-rc.8 <1.2.3-rc.10', '~1.2.3 ^1.2.4',
  '1.2.3 - 2.3.4 || 24', '* - 1.2', '1 - *', 'latest', '>=', '1.2.3.4', '^^1', '01.2.3', '>1 - 2', '1.2.3-', '99999999999999999999.0.0', '1,2', 'workspace:*', '>=1.2.3 latest', '1.2.3-01', '1.2.3-rc..8', '!1', '1 2 - 3', 'X.X', '1.*.*', '=> 1', '>=>1',
]
const rows = [...new Set(ranges)].map(range => [range, semver.validRange(range) === null ? null : versions.map(v => semver.satisfies(v, range) ? '1' : '0').join('')])
const { version } = JSON.parse(readFileSync(require.resolve('semver/package.json'), 'utf8'))
console.log(`{"semver":${JSON.stringify(version)},\n"versions":${JSON.stringify(versions)},\n"ranges":[\n${rows.map(row => JSON.stringify(row)).join(',\n')}\n]}`)
