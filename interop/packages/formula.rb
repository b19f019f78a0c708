# As much of Homebrew as squall's formula needs: installs from the working directory, an unpacked archive, to a folder, runs the formula's
# test, and prints what the formula says. Usage: formula.rb FORMULA FOLDER
require "fileutils"
require "json"

# A folder to which a formula installs files, by their names or by others.
class Place
  def initialize(path)
    @path = path
  end

  def to_s = @path

  def install(*files)
    FileUtils.mkdir_p(@path)
    files.flatten.each do |file|
      from, to = file.is_a?(Hash) ? file.first : [file, File.basename(file)]
      FileUtils.cp(from, File.join(@path, to))
    end
  end
end

class Formula
  SAID = {}

  class << self
    %i[desc homepage version license depends_on].each { |name| define_method(name) { |value| SAID[name] = value } }
    %i[url sha256].each { |name| define_method(name) { |value| SAID[@processor][name] = value } }
    %i[on_intel on_arm].each do |name|
      define_method(name) do |&block|
        @processor = name
        SAID[name] = {}
        block.call
      end
    end

    def test(&block) = define_method(:tried, &block)
  end

  { bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d", zsh_completion: "share/zsh/site-functions",
    fish_completion: "share/fish/vendor_completions.d" }.each do |name, path|
    define_method(name) { Place.new(File.join(ARGV[1], path)) }
  end

  def version = SAID[:version]

  def shell_output(command) = `#{command}`

  def assert_match(pattern, text)
    text.match?(pattern) or abort("expected #{pattern.inspect}, found #{text.inspect}")
  end
end

load ARGV[0]
formula = Squall.new
formula.install
formula.tried
puts JSON.generate(Formula::SAID)
