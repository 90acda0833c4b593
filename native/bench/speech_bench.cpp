// Runs detectors over raw files (16-bit little-endian mono at 8 kHz). Lines of standard input: the caller's
// file and, optionally, the file of the audio sent to the caller, separated by a tab.
//   speech_bench speech SENSITIVITY MINIMUM_MS END_MS   prints the events of speech detection and its CPU
//   time
//   speech_bench machine [LONGEST_PERSON_MS]             prints the decision of machine detection
#include <time.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "core/dsp/machine_detector.hpp"
#include "core/dsp/speech_detector.hpp"

namespace {

using carillon::Sample;
constexpr carillon::SampleRate kRate{8000};
constexpr size_t kFrame = carillon::frame_samples(kRate);

std::vector<Sample> read_raw(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  std::vector<Sample> samples(static_cast<size_t>(file.tellg()) / sizeof(Sample));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(samples.data()),
            static_cast<std::streamsize>(samples.size() * sizeof(Sample)));
  return samples;
}

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

void print_decision(const std::string& path, uint32_t longest_person_ms) {
  const std::vector<Sample> heard = read_raw(path);
  carillon::MachineDetector::Options options;
  options.adaptive = true;
  if (longest_person_ms > 0) options.longest_person_ms = longest_person_ms;
  carillon::MachineDetector detector(options);
  for (size_t at = 0; at + kFrame <= heard.size(); at += kFrame) {
    const auto decision = detector.feed({kRate, std::span(heard).subspan(at, kFrame)});
    if (!decision) continue;
    std::printf("{\"machine\":%s,\"reason\":%d,\"afterMs\":%u}\n", decision->machine ? "true" : "false",
                static_cast<int>(decision->reason), decision->after_ms);
    return;
  }
  std::printf("{\"machine\":false,\"reason\":-1,\"afterMs\":0}\n");
}

}  // namespace

int main(int count, char** arguments) {
  carillon::SpeechDetector::Options options;
  const bool machine = count > 1 && std::string(arguments[1]) == "machine";
  if (count > 2 && !machine) options.sensitivity = static_cast<uint32_t>(std::stoul(arguments[2]));
  if (count > 3) options.minimum_ms = static_cast<uint32_t>(std::stoul(arguments[3]));
  if (count > 4) options.end_ms = static_cast<uint32_t>(std::stoul(arguments[4]));
  std::string line;
  while (std::getline(std::cin, line)) {
    if (machine) {
      print_decision(line, count > 2 ? static_cast<uint32_t>(std::stoul(arguments[2])) : 0);
      continue;
    }
    const size_t tab = line.find('\t');
    const std::vector<Sample> heard = read_raw(line.substr(0, tab));
    const std::vector<Sample> sent =
        tab == std::string::npos ? std::vector<Sample>() : read_raw(line.substr(tab + 1));
    carillon::SpeechDetector detector(options);
    std::string events;
    const double began = cpu_us();
    for (size_t at = 0; at + kFrame <= heard.size(); at += kFrame) {
      if (at + kFrame <= sent.size()) detector.sent({kRate, std::span(sent).subspan(at, kFrame)});
      const auto event = detector.feed({kRate, std::span(heard).subspan(at, kFrame)});
      if (!event) continue;
      const size_t ms = (at + kFrame) / 8;
      const bool started = event->kind == carillon::SpeechDetector::Kind::started;
      if (!events.empty()) events += ',';
      std::array<char, 128> text;
      std::snprintf(text.data(), text.size(), "{\"started\":%s,\"atMs\":%zu,\"agoMs\":%u,\"confidence\":%u}",
                    started ? "true" : "false", ms, event->ago_ms, event->confidence);
      events += text.data();
    }
    const double took = cpu_us() - began;
    const double seconds = static_cast<double>(heard.size()) / kRate.hz();
    std::printf("{\"cpuUsPerSecond\":%.2f,\"events\":[%s]}\n", took / seconds, events.c_str());
  }
  return 0;
}
